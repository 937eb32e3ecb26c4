import type { HeldToken } from '../core/token.ts';
import { type Instant, elapsed, instant, renewalTime } from '../core/token-life.ts';

/** A renewal never comes sooner after the one before, in ms, whatever a token says of its life. */
const MIN_INTERVAL = 10_000;

/** After failures the interval doubles up to this, in ms. */
const MAX_INTERVAL = 300_000;

/** How long until the clocks are looked at again, in ms, as not every machine's waking comes with an event. */
const MAX_TIMER = 60_000;

/**
 * Says when a token is due for renewal. One timer would not do: it stands still in sleep and in a frozen tab, so waking
 * looks at the clocks again, and so does a timer now and then.
 */
export class Renewal {
  #due: () => void;
  #token: HeldToken | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end = new AbortController();
  #last: Instant | undefined;
  #failures = 0;

  /** @param restored called when the page came back from the back-forward cache */
  constructor(due: () => void, restored: () => void) {
    this.#due = due;
    const options = { signal: this.#end.signal };
    const wake = () => this.#check(MIN_INTERVAL);
    document.addEventListener('visibilitychange', wake, options);
    addEventListener('online', wake, options);
    const show = ({ persisted }: PageTransitionEvent) => {
      if (persisted) {
        this.#last = instant();
        restored();
      }
      wake();
    };
    addEventListener('pageshow', show, options);
  }

  /** Watches this token from now on; `undefined`: none, until there is another. */
  watch(token: HeldToken | undefined): void {
    this.#token = token;
    this.#failures = 0;
    this.#check(MIN_INTERVAL);
  }

  /** The renewal did not succeed: later again. */
  failed(): void {
    this.#check(Math.min(MIN_INTERVAL * 2 ** this.#failures++, MAX_INTERVAL));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#end.abort();
  }

  #check(interval: number): void {
    clearTimeout(this.#timer);
    const { life = 0, since } = this.#token ?? {};
    // A token that was over when it came says more about a clock than about itself; the next would be no better.
    if (!since || life <= 0) return;
    const now = instant();
    const pause = this.#last ? interval - elapsed(this.#last, now) : 0;
    const wait = Math.max(renewalTime(life) - elapsed(since, now), pause);
    if (wait > 0) {
      this.#timer = setTimeout(() => this.#check(interval), Math.min(wait, MAX_TIMER));
    } else {
      this.#last = now;
      this.#due();
    }
  }
}
