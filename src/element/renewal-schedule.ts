import type { HeldToken } from '../core/token.ts';
import { type Instant, elapsed, instant, renewalTime } from '../core/token-life.ts';

/** The least time between two renewals, in ms, whatever a token says about its life. */
const MIN_INTERVAL = 10_000;

/** After failures the interval doubles up to this, in ms. */
const MAX_INTERVAL = 300_000;

/** How often the clocks are compared, in ms, because not every machine fires an event when it wakes from sleep. */
const CHECK_INTERVAL = 60_000;

/**
 * Says when a token is due for renewal. A single timer is not enough, because it stands still in sleep and in a frozen tab.
 * So the clocks are also compared on every event that may follow a wake, and by a timer from time to time.
 */
export class RenewalSchedule {
  #onDue: () => void;
  #token: HeldToken | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #listeners = new AbortController();
  #lastDueAt: Instant | undefined;
  #failures = 0;

  /**
   * @param onDue called when the token is due for renewal
   * @param onRestored called when the page came back from the back-forward cache
   */
  constructor(onDue: () => void, onRestored: () => void) {
    this.#onDue = onDue;
    const options = { signal: this.#listeners.signal };
    const handleWake = () => this.#check(MIN_INTERVAL);
    const handlePageShow = ({ persisted }: PageTransitionEvent) => {
      if (persisted) {
        this.#lastDueAt = instant();
        onRestored();
      }
      handleWake();
    };
    document.addEventListener('visibilitychange', handleWake, options);
    addEventListener('online', handleWake, options);
    addEventListener('pageshow', handlePageShow, options);
  }

  /** Schedules the renewal of this token and cancels that of the one before. With `undefined` nothing is scheduled. */
  start(token: HeldToken | undefined): void {
    this.#token = token;
    this.#failures = 0;
    this.#check(MIN_INTERVAL);
  }

  /** Schedules another try after a renewal that failed. */
  retry(): void {
    this.#check(Math.min(MIN_INTERVAL * 2 ** this.#failures++, MAX_INTERVAL));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#listeners.abort();
  }

  /**
   * Reports that the token is due, or checks again later.
   * @param interval the least time since the token was due before, in ms
   */
  #check(interval: number): void {
    clearTimeout(this.#timer);
    const { life = 0, since } = this.#token ?? {};
    // A token that had expired on arrival means that a clock is wrong, so that the next token would not help either.
    if (!since || life <= 0) return;
    const now = instant();
    const pause = this.#lastDueAt ? interval - elapsed(this.#lastDueAt, now) : 0;
    const wait = Math.max(renewalTime(life) - elapsed(since, now), pause);
    if (wait > 0) {
      this.#timer = setTimeout(() => this.#check(interval), Math.min(wait, CHECK_INTERVAL));
    } else {
      this.#lastDueAt = now;
      this.#onDue();
    }
  }
}
