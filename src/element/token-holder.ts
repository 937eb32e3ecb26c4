import type { PluginEditorError } from '../core/errors.ts';
import type { LauncherMessages, MessageOf } from '../core/messages.ts';
import { type HeldToken, isLive } from '../core/token.ts';
import { type Instant, elapsed, instant } from '../core/token-life.ts';
import { RenewalSchedule } from './renewal-schedule.ts';

/** The least time between two answers to the editor's own requests for a token, in ms. */
const REQUEST_INTERVAL = 5000;

/** How many of the latest tokens are redacted from the editor's messages. Older ones expired long ago. */
const MAX_KNOWN_TOKENS = 50;

/** How a new token gets to the running editor. */
export interface TokenDelivery {
  /** Whether the running editor can be given a new token. */
  readonly canDeliver: boolean;
  post(message: MessageOf<Pick<LauncherMessages, 'token' | 'token-failed'>>): void;
}

/** What a token holder reports to the page. */
export interface TokenReporter {
  /** The token is about to end, and the editor could not be given a new one. */
  reportExpiring(expiresAt: Date, error?: PluginEditorError): void;
}

/** Gets the tokens, and is notified when the user may no longer have one. */
export interface TokenHolderHost {
  readonly reporter: TokenReporter;
  /** Gets a new token for the plugin that is shown. */
  getToken(signal: AbortSignal): Promise<HeldToken>;
  /** The page came back from the back-forward cache, and the token endpoint no longer lets its user edit. */
  onUnauthorized(): void;
}

/** Gets an editor token, holds it, schedules its renewal and renews it. Knows nothing of any frame. */
export class TokenHolder {
  declare token: HeldToken | undefined;
  /** The tokens that the editor may know, the newest first. */
  knownTokens: string[] = [];

  #host: TokenHolderHost;
  #delivery: TokenDelivery;
  #schedule: RenewalSchedule | undefined;
  /** Aborts the requests that are under way. */
  #abort = new AbortController();
  #renewal: Promise<void> | undefined;
  /** The timer until the editor's next token request is answered; these requests are rate-limited. */
  #requestTimer: ReturnType<typeof setTimeout> | undefined;
  #lastRequestAt: Instant | undefined;

  constructor(host: TokenHolderHost, delivery: TokenDelivery) {
    this.#host = host;
    this.#delivery = delivery;
  }

  /** Aborts when `reset` ends what is under way. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Gets a token unless there is one, and schedules its renewal. */
  async obtain(): Promise<void> {
    const { signal } = this.#abort;
    const token = this.token ?? (await this.#host.getToken(signal));
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
    );
    this.#schedule.start(token);
  }

  /** Schedules the renewal of the token that is held, now that an editor is there to take a new one. */
  scheduleRenewal(): void {
    this.#schedule?.start(this.token);
  }

  #handleRenewalDue(): void {
    if (this.#delivery.canDeliver) {
      void this.renew().catch(() => {});
    } else {
      this.#schedule?.start(undefined);
      this.#reportExpiring();
    }
  }

  #reportExpiring(error?: PluginEditorError): void {
    const end = this.token && endOf(this.token);
    if (end) this.#host.reporter.reportExpiring(end, error);
  }

  async #handleRestored(): Promise<void> {
    try {
      await this.renew();
    } catch (error) {
      if ((error as PluginEditorError).code === 'token-unauthorized') this.#host.onUnauthorized();
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
    const delivery = this.#delivery;
    try {
      const token = await this.#host.getToken(signal);
      if (signal.aborted || !delivery.canDeliver) return;
      this.#hold(token);
      delivery.post({ type: 'token', ...toTokenFields(token) });
    } catch (error) {
      if (signal.aborted) return;
      if (delivery.canDeliver) {
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
      this.#delivery.post({ type: 'token-failed', code: (error as PluginEditorError).code });
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
