import type { Config } from '../core/config.ts';
import { buildEditorUrl } from '../core/editor-url.ts';
import { PluginEditorError, isPluginEditorError } from '../core/errors.ts';
import { type HeldToken, isLive } from '../core/token.ts';
import { elapsed, instant } from '../core/token-life.ts';
import { Conversation, type PluginMessage } from './conversation.ts';
import { EditorFrame, type FrameAttributes } from './frame.ts';
import { Renewal } from './renewal.ts';

/** Requests of an editor for a token are answered no more often, in ms. */
const REQUEST_INTERVAL = 5000;

/** How long the page of a frame has to take the last message in, in ms; nothing answers it. */
const CLOSE_DELAY = 100;

/** What a launch asks of its element, and tells it. */
export interface LaunchHost {
  frameAttributes(): FrameAttributes;
  getToken(config: Config, signal: AbortSignal): Promise<HeldToken>;
  /** The frame changed. */
  onFrame(): void;
  /** The editor can be used; `confirmed`: it said so itself. */
  onReady(confirmed: boolean): void;
  onFail(error: PluginEditorError): void;
  /** A page loaded in the frame and greeted. */
  onGreeting(): void;
  onMessage(message: PluginMessage): void;
  onExpiring(expiresAt: Date, error?: PluginEditorError): void;
  /** The page came back from the cache, and its user may no longer edit. */
  onRefused(): void;
}

/** What else can be thrown between token and frame is an address that the token does not fit into. */
export const asEditorError = (error: unknown): PluginEditorError =>
  isPluginEditorError(error) ? error : new PluginEditorError('token-invalid', (error as Error).message);

/** From a checked config to a running editor: token, frame, conversation, renewal. */
export class Launch {
  frame: EditorFrame | undefined;

  #host: LaunchHost;
  #config: Config | undefined;
  #talk: Conversation | undefined;
  #renewal: Renewal | undefined;
  #token: HeldToken | undefined;
  /** Aborts the requests under way. */
  #run = new AbortController();
  #waiting = false;
  #renewing: Promise<void> | undefined;
  #limit: ReturnType<typeof setTimeout> | undefined;
  /** A request of the editor that waits for its turn. */
  #request: ReturnType<typeof setTimeout> | undefined;
  #requested = { wall: -Infinity, mono: -Infinity };

  constructor(host: LaunchHost) {
    this.#host = host;
  }

  /** Whether the editor can change to another plugin, or has not been told of any, so that its frame can stay. */
  #canOpen({ editorUrl, tokenDelivery }: Config): boolean {
    const talk = this.#talk;
    return (
      !!talk &&
      editorUrl === this.#config?.editorUrl &&
      (talk.can('open') || (tokenDelivery === 'message' && talk.untold))
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
    if (this.#waiting && !withNewToken && (keepsFrame || !this.frame)) {
      // The token is on its way, and what comes of it uses the new config.
      this.#config = config;
      return;
    }
    const token = withNewToken || !this.#token || !isLive(this.#token) ? undefined : this.#token;
    this.#halt();
    if (!keepsFrame) this.#removeFrame();
    this.#config = config;
    this.#token = token;
    void this.#open(config, (this.#run = new AbortController()).signal);
  }

  async #open(config: Config, signal: AbortSignal): Promise<void> {
    try {
      if (config.tokenDelivery === 'message' || this.frame) {
        // In the same task as the token request: neither waits for the other.
        if (!this.frame) this.#createFrame(config.editorUrl);
        this.#limitTo(config.timeout);
      }
      this.#waiting = !this.#token;
      const token = this.#token ?? (await this.#host.getToken(config, signal));
      // The host may have ended this launch meanwhile.
      signal.throwIfAborted();
      this.#waiting = false;
      this.#hold(token);
      const { timeout } = this.#config as Config;
      if (!this.frame) {
        this.#createFrame(buildEditorUrl({ ...(this.#config as Config), token: token.token }), true);
        this.#limitTo(timeout);
      } else if (this.#talk?.greeted) {
        this.#tell();
        this.#limitTo(timeout);
      }
    } catch (error) {
      if (!signal.aborted) this.#fail(asEditorError(error));
    }
  }

  #createFrame(url: string, withToken = false): void {
    const frame = new EditorFrame({
      url,
      attributes: this.#host.frameAttributes(),
      onLoad: () => {
        if (withToken) this.#ready(false);
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
    this.#talk = new Conversation(
      frame,
      withToken,
      () => {
        this.#host.onGreeting();
        if (this.#token) this.#tell();
      },
      this.#hear,
    );
    this.#host.onFrame();
  }

  /** Tells the editor what to open. */
  #tell(): void {
    const { builder, ident, namespace, fn, template } = this.#config as Config;
    this.#talk?.open({
      builder,
      ident,
      namespace,
      fn,
      ...(template && { template }),
      ...wordsOf(this.#token as HeldToken),
    });
  }

  #hear = (message: PluginMessage): void => {
    if (message.type === 'ready') {
      this.#ready(true);
    } else if (message.type === 'error') {
      const said = message.message.replaceAll((this.#token as HeldToken).token, '…');
      this.#fail(new PluginEditorError('editor', `The editor cannot open the plugin: ${said}`));
    } else if (message.type === 'token-request') {
      this.#serve();
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

  #limitTo(timeout: number): void {
    clearTimeout(this.#limit);
    this.#limit = setTimeout(() => {
      const { greeted, withToken } = this.#talk as Conversation;
      // The editor waits for its token; that has a time limit of its own.
      if (greeted && !this.#token) return;
      const what = greeted
        ? 'greeted, but did not say "ready"'
        : withToken
          ? 'did not load'
          : 'did not greet: does it speak the frame protocol? If not, set token-delivery to url. It had to load';
      this.#fail(
        new PluginEditorError(
          'frame-timeout',
          `The editor at ${this.frame?.origin} ${what} within ${timeout} ms; see editor-url and timeout`,
        ),
      );
    }, timeout);
  }

  #hold(token: HeldToken): void {
    this.#token = token;
    this.#renewal ??= new Renewal(
      () => this.#due(),
      () => void this.#restored(),
    );
    this.#renewal.watch(token);
  }

  #due(): void {
    if (this.#talk?.greeted) {
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
      if (isPluginEditorError(error) && error.code === 'token-unauthorized') this.#host.onRefused();
    }
  }

  /** Gets a new token and hands it to the editor; what fails leaves the editor as it is. */
  renew(): Promise<void> {
    const renewing = (this.#renewing ??= this.#renew(this.#run.signal).finally(() => {
      if (this.#renewing === renewing) this.#renewing = undefined;
    }));
    return renewing;
  }

  /** Whether the editor takes a new token. */
  get speaks(): boolean {
    return !!this.#talk?.greeted;
  }

  async #renew(signal: AbortSignal): Promise<void> {
    try {
      const token = await this.#host.getToken(this.#config as Config, signal);
      signal.throwIfAborted();
      this.#hold(token);
      this.#talk?.post({ type: 'token', ...wordsOf(token) });
    } catch (error) {
      signal.throwIfAborted();
      // Refused: asking again by itself would be no use.
      if ((error as PluginEditorError).code === 'token-unauthorized') this.#renewal?.watch(undefined);
      else this.#renewal?.failed();
      this.#expiring(error as PluginEditorError);
      throw error;
    }
  }

  /** Meets a request of the editor, which may come in a storm. */
  #serve(): void {
    if (this.#request !== undefined) return;
    const wait = REQUEST_INTERVAL - elapsed(this.#requested, instant());
    this.#request = setTimeout(() => void this.#meet(this.#run.signal), Math.max(0, wait));
  }

  async #meet(signal: AbortSignal): Promise<void> {
    this.#requested = instant();
    try {
      await this.renew();
    } catch (error) {
      if (signal.aborted) return;
      this.#talk?.post({ type: 'token-failed', code: (error as PluginEditorError).code });
    }
    this.#request = undefined;
  }

  /** Ends the requests, timers and listeners, and what was said about the plugin so far. */
  #halt(): void {
    this.#run.abort();
    this.#waiting = false;
    this.#token = this.#renewing = undefined;
    clearTimeout(this.#limit);
    clearTimeout(this.#request);
    this.#request = undefined;
    this.#renewal?.stop();
    this.#renewal = undefined;
    this.#talk?.forget();
  }

  #removeFrame(): void {
    if (!this.frame) return;
    this.frame.dispose();
    this.frame = this.#talk = undefined;
    this.#host.onFrame();
  }

  stop(): void {
    this.#halt();
    this.#removeFrame();
    this.#config = undefined;
  }

  /** Ends all, and has the editor forget its token first. */
  async close(): Promise<void> {
    const { frame } = this;
    const told = this.#talk?.post({ type: 'close' });
    this.#halt();
    if (told) await new Promise((resolve) => setTimeout(resolve, CLOSE_DELAY));
    if (frame === this.frame) this.stop();
  }
}

/** When a token ends, by the local clock. */
const endOf = ({ life, since }: HeldToken): Date | undefined =>
  life === undefined ? undefined : new Date(since.wall + life);

function wordsOf(held: HeldToken): { token: string; expiresAt?: string } {
  const end = endOf(held);
  return { token: held.token, ...(end && { expiresAt: end.toISOString() }) };
}
