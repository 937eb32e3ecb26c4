import type { Config } from '../core/config.ts';
import { buildEditorUrl } from '../core/editor-url.ts';
import { PluginEditorError, isPluginEditorError } from '../core/errors.ts';
import { type HeldToken, isLive } from '../core/token.ts';
import { type Instant, elapsed, instant } from '../core/token-life.ts';
import { Conversation, type PluginMessage } from './conversation.ts';
import { EditorFrame, type FrameAttributes } from './frame.ts';
import { Renewal } from './renewal.ts';

/** Requests of an editor for a token are answered no more often, in ms. */
const REQUEST_INTERVAL = 5000;

/** How many tokens are looked for in what the editor says: the newest, as those before them ended long ago. */
const KNOWN_TOKENS = 50;

/** How long the editor has to take the last message in before its frame goes, in ms; nothing answers it. */
const CLOSE_DELAY = 250;

/** What a launch asks of its element, and tells it. */
export interface LaunchHost {
  frameAttributes(): FrameAttributes;
  /** A new token for what was started last. */
  getToken(signal: AbortSignal): Promise<HeldToken>;
  /** A new frame, to go into the page at once. */
  onFrame(frame: HTMLIFrameElement): void;
  /** The editor can be used; `confirmed`: it said so itself. */
  onReady(confirmed: boolean): void;
  onFail(error: PluginEditorError): void;
  /** Nothing is unsaved: a page loaded in the frame and greeted, and the one before is gone. */
  onClean(): void;
  onMessage(message: Exclude<PluginMessage, { type: 'ready' | 'error' | 'token-request' }>): void;
  onExpiring(expiresAt: Date, error?: PluginEditorError): void;
  /** The page came back from the cache, and its user may no longer edit. */
  onRefused(): void;
}

/** Anything else means that the URL could not be built, for instance because the token holds a lone surrogate. */
export const asEditorError = (error: unknown): PluginEditorError =>
  isPluginEditorError(error) ? error : new PluginEditorError('token-invalid', (error as Error).message);

/** From a checked config to a running editor: token, frame, conversation, renewal. */
export class Launch {
  declare frame: EditorFrame | undefined;

  #host: LaunchHost;
  #config: Config | undefined;
  #conversation: Conversation | undefined;
  #renewal: Renewal | undefined;
  /** The tokens that the frame may know of, the newest first. */
  #knownTokens: string[] = [];
  #token: HeldToken | undefined;
  /** Aborts what is under way. */
  #run = new AbortController();
  #renewing: Promise<void> | undefined;
  #limit: ReturnType<typeof setTimeout> | undefined;
  /** A request of the editor that waits for its turn. */
  #request: ReturnType<typeof setTimeout> | undefined;
  #requested: Instant | undefined;

  constructor(host: LaunchHost) {
    this.#host = host;
  }

  /** Whether the editor can change to another plugin, or has not been told of any, so that its frame can stay. */
  #canOpen({ editorUrl, tokenDelivery }: Config): boolean {
    const conversation = this.#conversation;
    return (
      !!conversation &&
      editorUrl === this.#config?.editorUrl &&
      (conversation.can('open') || (tokenDelivery === 'message' && conversation.untold))
    );
  }

  /** Loads the editor ahead of any plugin. */
  preload(editorUrl: string): void {
    if (this.frame && this.#config?.editorUrl === editorUrl) return;
    this.stop();
    this.#config = { editorUrl } as Config;
    this.#createFrame(editorUrl);
  }

  /** Opens what the config names, and drops what was open or under way. */
  start(config: Config, withNewToken: boolean): void {
    const keepsFrame = this.#canOpen(config);
    // A token that is on its way for the same plugin serves this config as well.
    const waits = this.#config && !this.#token && !withNewToken;
    if (!waits) {
      const token = withNewToken ? undefined : this.#token;
      this.#halt();
      if (token && isLive(token)) this.#token = token;
    }
    if (!keepsFrame) this.#removeFrame();
    this.#config = config;
    // In the same task as the token request: neither waits for the other.
    if (config.tokenDelivery === 'message' && !this.frame) this.#createFrame(config.editorUrl);
    if (this.frame) this.#limitFrame();
    if (!waits) void this.#open(this.#run.signal);
  }

  async #open(signal: AbortSignal): Promise<void> {
    try {
      const token = this.#token ?? (await this.#host.getToken(signal));
      // The host may have ended this launch meanwhile.
      signal.throwIfAborted();
      this.#hold(token);
      if (!this.frame) this.#createFrame(buildEditorUrl({ ...(this.#config as Config), ...token }), true);
      else if (this.#conversation?.greeted) this.#sendOpen();
      else return;
      this.#limitFrame();
    } catch (error) {
      if (!signal.aborted) this.#fail(asEditorError(error));
    }
  }

  #createFrame(url: string, withToken = false): void {
    const frame = new EditorFrame({
      url,
      attributes: this.#host.frameAttributes(),
      onLoad: () => {
        // `load` is the only signal we get from an editor without the protocol.
        if (withToken && !this.#conversation?.greeted) this.#ready(false);
      },
      onBlocked: () =>
        this.#fail(
          new PluginEditorError(
            'frame-blocked',
            `This page's content security policy lacks: frame-src ${frame.origin}`,
          ),
        ),
    });
    this.frame = frame;
    this.#conversation = new Conversation(
      frame,
      withToken,
      () => this.#knownTokens,
      (isFirst) => {
        if (this.#token) {
          this.#sendOpen();
          if (isFirst) this.#renewal?.watch(this.#token);
        }
        this.#host.onClean();
      },
      this.#handleMessage,
    );
    this.#host.onFrame(frame.element);
  }

  /** Tells the editor what to open. */
  #sendOpen(): void {
    const { builder, ident, namespace, fn, template } = this.#config as Config;
    this.#conversation?.open({
      builder,
      ident,
      namespace,
      fn,
      ...(template && { template }),
      ...toTokenFields(this.#token as HeldToken),
    });
  }

  #handleMessage = (message: PluginMessage): void => {
    if (message.type === 'ready') {
      this.#ready(true);
    } else if (message.type === 'error') {
      this.#fail(new PluginEditorError('editor', `The editor cannot open the plugin: ${message.message}`));
    } else if (message.type === 'token-request') {
      this.#scheduleTokenRequest();
    } else {
      this.#host.onMessage(message);
    }
  };

  #ready(confirmed: boolean): void {
    clearTimeout(this.#limit);
    this.#host.onReady(confirmed);
  }

  #fail(error: PluginEditorError): void {
    const token = this.#token;
    this.stop();
    // It may still serve, when what is changed now is the address.
    this.#token = token;
    this.#host.onFail(error);
  }

  #limitFrame(): void {
    const { timeout } = this.#config as Config;
    clearTimeout(this.#limit);
    this.#limit = setTimeout(() => {
      const { greeted, withToken } = this.#conversation as Conversation;
      // The editor waits for its token; that has a time limit of its own, and the frame's begins again with it.
      if (greeted && !this.#token) return;
      const what = greeted
        ? 'greeted but did not say ready; see timeout'
        : withToken
          ? 'did not load; see editor-url and timeout'
          : 'did not greet; see editor-url, or set token-delivery to url if it never does';
      this.#fail(
        new PluginEditorError(
          'frame-timeout',
          `In ${timeout} ms the editor at ${this.frame?.origin} ${what}`,
        ),
      );
    }, timeout);
  }

  #hold(token: HeldToken): void {
    this.#token = token;
    this.#knownTokens = [token.token, ...this.#knownTokens].slice(0, KNOWN_TOKENS);
    this.#renewal ??= new Renewal(
      () => this.#onRenewalDue(),
      () => void this.#restored(),
    );
    this.#renewal.watch(token);
  }

  #onRenewalDue(): void {
    if (this.speaks) {
      void this.renew().catch(() => {});
    } else {
      this.#renewal?.watch(undefined);
      this.#expiring();
    }
  }

  #expiring(error?: PluginEditorError): void {
    const end = this.#token && endOf(this.#token);
    if (end) this.#host.onExpiring(end, error);
  }

  async #restored(): Promise<void> {
    try {
      await this.renew();
    } catch (error) {
      if ((error as PluginEditorError).code === 'token-unauthorized') this.#host.onRefused();
    }
  }

  /** Whether a new token can reach the editor. */
  get speaks(): boolean {
    const { greeted, withToken } = this.#conversation ?? { withToken: true };
    return greeted || !withToken;
  }

  /**
   * Gets a new token and hands it to the editor; what fails leaves the editor as it is. Two calls at a time share one
   * request. Resolves when it is no longer wanted.
   */
  renew(): Promise<void> {
    return (this.#renewing ??= this.#renew(this.#run.signal));
  }

  async #renew(signal: AbortSignal): Promise<void> {
    try {
      const token = await this.#host.getToken(signal);
      if (signal.aborted || !this.speaks) return;
      this.#hold(token);
      this.#conversation?.post({ type: 'token', ...toTokenFields(token) });
    } catch (error) {
      if (signal.aborted) return;
      if (this.speaks) {
        // Refused: asking again by itself would be no use.
        if ((error as PluginEditorError).code === 'token-unauthorized') this.#renewal?.watch(undefined);
        else this.#renewal?.failed();
        this.#expiring(error as PluginEditorError);
      }
      throw error;
    } finally {
      if (!signal.aborted) this.#renewing = undefined;
    }
  }

  /** Answers a token request. Requests are coalesced and rate-limited. */
  #scheduleTokenRequest(): void {
    const wait = this.#requested ? REQUEST_INTERVAL - elapsed(this.#requested, instant()) : 0;
    this.#request ??= setTimeout(() => void this.#answerTokenRequest(this.#run.signal), Math.max(0, wait));
  }

  async #answerTokenRequest(signal: AbortSignal): Promise<void> {
    this.#requested = instant();
    try {
      await this.renew();
    } catch (error) {
      this.#conversation?.post({ type: 'token-failed', code: (error as PluginEditorError).code });
    }
    if (!signal.aborted) this.#request = undefined;
  }

  /** Ends the requests, timers and listeners, and what was said about the plugin so far. */
  #halt(): void {
    this.#run.abort();
    this.#run = new AbortController();
    this.#token = this.#renewing = undefined;
    clearTimeout(this.#limit);
    clearTimeout(this.#request);
    this.#request = undefined;
    this.#requested = undefined;
    this.#renewal?.stop();
    this.#renewal = undefined;
    this.#conversation?.forget();
  }

  #removeFrame(): void {
    this.#knownTokens = [];
    if (!this.frame) return;
    clearTimeout(this.#limit);
    this.frame.dispose();
    this.#conversation?.dispose();
    this.frame = this.#conversation = undefined;
  }

  stop(): void {
    this.#halt();
    this.#removeFrame();
    this.#config = undefined;
  }

  /** Ends all, and has the editor forget its token first. */
  async close(): Promise<void> {
    const { frame } = this;
    const told = this.#conversation?.post({ type: 'close' });
    this.#halt();
    if (told) {
      await new Promise<unknown>((resolve) => {
        this.#limit = setTimeout(resolve, CLOSE_DELAY);
        this.#run.signal.addEventListener('abort', resolve);
      });
    }
    if (frame === this.frame) this.stop();
  }
}

/** When a token ends, by the local clock. */
function endOf({ life, since }: HeldToken): Date | undefined {
  const end = new Date(since.wall + (life as number));
  // Nothing told, or it is farther off than a date can be.
  return Number.isNaN(+end) ? undefined : end;
}

function toTokenFields(held: HeldToken): { token: string; expiresAt?: string } {
  const end = endOf(held);
  return { token: held.token, ...(end && { expiresAt: end.toISOString() }) };
}
