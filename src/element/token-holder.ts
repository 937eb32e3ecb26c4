import type { PluginEditorError } from '../core/errors.ts';
import { type HeldToken, type Instant, elapsed, instant, isLive, renewalTime } from '../core/token.ts';
import type { EditorController } from './controller.ts';
import type { Launch } from './launch.ts';

/** The least time between two answers to the editor's own requests for a token, in ms. */
const REQUEST_INTERVAL = 5000;

/** How many of the latest tokens are redacted from the editor's messages. Older ones expired long ago. */
const MAX_KNOWN_TOKENS = 50;

/** Gets an editor token, holds it, and renews it before it ends. */
export class TokenHolder {
  declare token: HeldToken | undefined;
  /** The tokens that the editor may know, the newest first. */
  knownTokens: string[] = [];

  #controller: EditorController;
  #launch: Launch;
  #schedule: RenewalSchedule | undefined;
  /** Shared by all schedules, so that a change of the attributes does not bring a renewal forward. */
  #lastDue: LastDue = {};
  /** Aborts the pending requests. */
  #abort = new AbortController();
  #renewal: Promise<void> | undefined;
  /** The timer until the editor's next token request is answered; these requests are rate-limited. */
  #requestTimer: ReturnType<typeof setTimeout> | undefined;
  #lastRequestAt: Instant | undefined;

  constructor(controller: EditorController, launch: Launch) {
    this.#controller = controller;
    this.#launch = launch;
  }

  /** Aborts when `reset` ends the pending requests. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Gets a token unless there is one, and schedules its renewal. */
  async obtain(): Promise<void> {
    const { signal } = this.#abort;
    const token = this.token ?? (await this.#controller.getToken(signal));
    // The request may have been aborted although the source of tokens ignored the signal.
    signal.throwIfAborted();
    this.#hold(token);
  }

  #hold(token: HeldToken): void {
    this.token = token;
    this.knownTokens = [token.token, ...this.knownTokens].slice(0, MAX_KNOWN_TOKENS);
    this.#schedule ??= new RenewalSchedule(
      () => this.#handleRenewalDue(),
      () => void this.#handleRestored(),
      this.#lastDue,
    );
    this.#schedule.start(token);
  }

  /** Schedules the renewal of the token that is held, now that an editor is there to take a new one. */
  scheduleRenewal(): void {
    this.#schedule?.start(this.token);
  }

  #handleRenewalDue(): void {
    if (this.#launch.canDeliver) {
      void this.renew().catch(() => {});
    } else {
      this.#schedule?.start(undefined);
      this.#reportExpiring();
    }
  }

  #reportExpiring(error?: PluginEditorError): void {
    const end = this.token && endOf(this.token);
    if (end) this.#controller.shown.reportExpiring(end, error);
  }

  async #handleRestored(): Promise<void> {
    // One that was pending when the page was left was asked for before its user may have signed out.
    this.#renewal = undefined;
    try {
      await this.renew();
    } catch (error) {
      // The page came back from the back-forward cache, and its user may no longer edit.
      if ((error as PluginEditorError).code === 'token-unauthorized') void this.#controller.close();
    }
  }

  /**
   * Gets a new token and hands it to the editor; a failure leaves the editor as it is. Two calls at a time share one
   * request. Resolves when the new token was handed over, or without one when none is wanted any longer.
   */
  renew(): Promise<void> {
    return (this.#renewal ??= this.#renew(this.#abort.signal));
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const launch = this.#launch;
    try {
      const token = await this.#controller.getToken(signal);
      if (signal.aborted || !launch.canDeliver) return;
      this.#hold(token);
      launch.post({ type: 'token', ...toTokenFields(token) });
    } catch (error) {
      if (signal.aborted) return;
      if (launch.canDeliver) {
        // A refused renewal is not retried: only `renewToken()` or the editor's own request asks again.
        if ((error as PluginEditorError).code === 'token-unauthorized') this.#schedule?.start(undefined);
        else this.#schedule?.retry();
        this.#reportExpiring(error as PluginEditorError);
      }
      throw error;
    } finally {
      if (!signal.aborted) this.#renewal = undefined;
    }
  }

  /** Answers the editor's request for a token. Requests are coalesced and rate-limited. */
  scheduleTokenRequest(): void {
    const wait = this.#lastRequestAt ? REQUEST_INTERVAL - elapsed(this.#lastRequestAt, instant()) : 0;
    this.#requestTimer ??= setTimeout(
      () => void this.#answerTokenRequest(this.#abort.signal),
      Math.max(0, wait),
    );
  }

  async #answerTokenRequest(signal: AbortSignal): Promise<void> {
    this.#lastRequestAt = instant();
    try {
      await this.renew();
    } catch (error) {
      this.#launch.post({ type: 'token-failed', code: (error as PluginEditorError).code });
    }
    if (!signal.aborted) this.#requestTimer = undefined;
  }

  /** Ends requests, timers and listeners. With `keep`, a token that is still valid stays. */
  reset(keep = false): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    if (!keep || (this.token && !isLive(this.token))) this.token = undefined;
    clearTimeout(this.#requestTimer);
    this.#renewal = this.#requestTimer = this.#lastRequestAt = undefined;
    this.#schedule?.stop();
    this.#schedule = undefined;
  }
}

/** When a token ends, by the local clock. */
function endOf({ life, since }: HeldToken): Date | undefined {
  const end = new Date(since.wall + (life as number));
  // The lifetime is unknown, or the end is beyond the range of a date.
  return Number.isNaN(+end) ? undefined : end;
}

/** The fields of a message that carries this token. */
export function toTokenFields(held: HeldToken): { token: string; expiresAt: string | undefined } {
  const end = endOf(held);
  return { token: held.token, expiresAt: end?.toISOString() };
}

/** The least time between two renewals, in ms, whatever a token says about its life. */
const MIN_INTERVAL = 10_000;

/** After failures the interval doubles up to this, in ms. */
const MAX_INTERVAL = 300_000;

/** How often the clocks are compared, in ms, because not every machine fires an event when it wakes from sleep. */
const CHECK_INTERVAL = 60_000;

/** When a token was last due for renewal. */
interface LastDue {
  at?: Instant;
}

/**
 * Says when a token is due for renewal. A single timer is not enough, because it stands still in sleep and in a frozen tab.
 * So the clocks are also compared on every event that may follow a wake, and by a timer from time to time.
 */
class RenewalSchedule {
  #onDue: () => void;
  #token: HeldToken | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #listeners = new AbortController();
  #lastDue: LastDue;
  #failures = 0;

  /**
   * @param onDue called when the token is due for renewal
   * @param onRestored called when the page came back from the back-forward cache
   */
  constructor(onDue: () => void, onRestored: () => void, lastDue: LastDue) {
    this.#onDue = onDue;
    this.#lastDue = lastDue;
    const options = { signal: this.#listeners.signal };
    const handleWake = () => this.#check(MIN_INTERVAL);
    const handlePageShow = ({ persisted }: PageTransitionEvent) => {
      if (persisted) {
        this.#lastDue.at = instant();
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
    const { at } = this.#lastDue;
    const pause = at ? interval - elapsed(at, now) : 0;
    const wait = Math.max(renewalTime(life) - elapsed(since, now), pause);
    if (wait > 0) {
      this.#timer = setTimeout(() => this.#check(interval), Math.min(wait, CHECK_INTERVAL));
    } else {
      this.#lastDue.at = now;
      this.#onDue();
    }
  }
}
