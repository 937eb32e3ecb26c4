import type { Config } from '../core/config.ts';
import { checkedEditorUrl } from '../core/url.ts';
import { PluginEditorError, asEditorError } from '../core/errors.ts';
import type { LauncherMessage, PluginDetails } from '../core/messages.ts';
import type { HeldToken } from '../core/token.ts';
import { AssistantCalls } from './assistant-calls.ts';
import { EditorConnection, type PluginMessage } from './connection.ts';
import type { EditorController } from './controller.ts';
import { TokenHolder, toTokenFields } from './token-holder.ts';

/** How long the editor has to handle `close` before its frame is removed, in ms. The editor does not reply to it. */
const CLOSE_DELAY = 250;

/** Takes a checked config to a running editor: gets the token, connects with the editor, and gives it the token. */
export class Launch {
  declare connection: EditorConnection | undefined;

  #controller: EditorController;
  #config: Config | undefined;
  #editorUrl: string | undefined;
  readonly tokens: TokenHolder;
  readonly assistantCalls = new AssistantCalls(this);
  /** The timer that ends the wait for the frame, or for the editor to handle `close`. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(controller: EditorController) {
    this.#controller = controller;
    this.tokens = new TokenHolder(controller, this);
  }

  /** Posts a message about the open plugin; returns false when there is none. */
  post(message: LauncherMessage): boolean {
    return !!this.connection?.post(message);
  }

  /** Whether the frame can be kept, because the editor can open another plugin or has not opened any yet. */
  #canKeepFrame({ editorUrl, tokenDelivery }: Config): boolean {
    const { connection } = this;
    return (
      !!connection &&
      editorUrl === this.#editorUrl &&
      // A preloaded frame has no token in its address, so it serves only message delivery.
      tokenDelivery === (this.#config?.tokenDelivery ?? 'message') &&
      (connection.supports('open') || (tokenDelivery === 'message' && connection.phase === 'blank'))
    );
  }

  /** Loads the editor ahead of any plugin. */
  preload(editorUrl: string): void {
    if (this.connection && this.#editorUrl === editorUrl) return;
    this.stop();
    this.#connect(editorUrl);
  }

  /**
   * Opens what the config names, and ends what was open or loading.
   * @param withNewToken whether the token that is held is for another plugin, or must not be used again
   * @param token a token that was requested before this call
   */
  start(config: Config, withNewToken: boolean, token?: HeldToken): void {
    const keepsFrame = this.#canKeepFrame(config);
    const tokens = this.tokens;
    // A pending token request for the same plugin serves this config as well.
    const isTokenRequested = !!this.#config && !tokens.token && !withNewToken;
    if (!isTokenRequested) this.#reset(!withNewToken);
    if (token) tokens.token = token;
    if (!keepsFrame) this.#disconnect();
    this.#config = config;
    // The frame starts loading in the same task as the token request, so that neither waits for the other.
    if (config.tokenDelivery === 'message' && !this.connection) this.#connect(config.editorUrl);
    if (this.connection) this.#startFrameTimeout();
    if (!isTokenRequested) void this.#open(tokens.signal);
  }

  /** Gets the token, then loads the frame with it or sends it to the editor that has greeted. */
  async #open(signal: AbortSignal): Promise<void> {
    const tokens = this.tokens;
    try {
      await tokens.obtain();
      const config = this.#config as Config;
      const { connection } = this;
      if (!connection) {
        const { token } = tokens.token as HeldToken;
        this.#connect(config.editorUrl, checkedEditorUrl({ ...config, token }), true);
      } else if (connection.hasGreeted) this.#sendOpen();
      else return;
      this.#startFrameTimeout();
    } catch (error) {
      if (!signal.aborted) this.#fail(asEditorError(error));
    }
  }

  /**
   * Loads an editor in a new frame.
   * @param url the address of the frame, which holds the plugin and the token where `withToken` is set
   */
  #connect(editorUrl: string, url = editorUrl, withToken = false): void {
    const controller = this.#controller;
    const tokens = this.tokens;
    const connection = new EditorConnection({
      url,
      withToken,
      knownTokens: () => tokens.knownTokens,
      onLoad: () => {
        // `load` is the only signal we get from an editor without the protocol.
        if (withToken && !connection.hasGreeted) this.#handleReady();
      },
      onBlocked: () =>
        this.#fail(
          new PluginEditorError(
            'frame-blocked',
            `This page's content security policy lacks: frame-src ${connection.editorFrame.origin}`,
          ),
        ),
      onHello: (isFirst) => {
        if (tokens.token) {
          this.#sendOpen();
          // Until now there was no editor that a new token could go to.
          if (isFirst) tokens.scheduleRenewal();
        }
        // The unsaved work of the page that was in the frame before is gone.
        controller.onMessage({ type: 'dirty', dirty: false });
      },
      onMessage: (message) => this.#handleMessage(message),
    });
    this.#editorUrl = editorUrl;
    this.connection = connection;
    controller.onFrame(connection.editorFrame);
  }

  /** Asks the editor to open the plugin. */
  #sendOpen(): void {
    const { builder, ident, namespace, fn, template, initialSource } = this.#config as Config;
    this.assistantCalls.end();
    this.connection?.open({
      builder,
      ident,
      namespace,
      fn,
      template: template || undefined,
      // An initial source in another language than `template` is not used.
      initialSource: !template || template === initialSource?.lang ? initialSource : undefined,
      ...toTokenFields(this.tokens.token as HeldToken),
      ...this.#controller.settings.takeAll(),
    });
  }

  #handleMessage(message: PluginMessage): void {
    switch (message.type) {
      case 'ready': {
        const { type: _, ...details } = message;
        return this.#handleReady(details);
      }
      case 'error':
        return this.#fail(
          new PluginEditorError('editor', `The editor cannot open the plugin: ${message.message}`),
          message.message,
        );
      case 'token-request':
        return this.tokens.scheduleTokenRequest();
      case 'assist': {
        const { type: _, ...question } = message;
        const { assistant, shown } = this.#controller;
        return void this.assistantCalls.start(assistant, shown.key, question);
      }
      case 'assist-stop':
        return this.assistantCalls.stop(message.request);
      default:
        return this.#controller.onMessage(message);
    }
  }

  #handleReady(details?: PluginDetails): void {
    clearTimeout(this.#timer);
    const connection = this.connection as EditorConnection;
    const isFirst = connection.phase !== 'ready';
    if (details) connection.phase = 'ready';
    this.#controller.shown.reportReady(details, isFirst);
  }

  #fail(error: PluginEditorError, editorMessage?: string): void {
    // The token is kept, because the next change may be only of the address.
    this.stop(true);
    this.#controller.shown.reportFailure(error, editorMessage);
    // A change may have waited for the work that is gone now.
    this.#controller.onMessage({ type: 'dirty', dirty: false });
  }

  /** Starts the time limit for the frame, or starts it anew. */
  #startFrameTimeout(): void {
    const { timeout } = this.#config as Config;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const { hasGreeted, withToken, editorFrame } = this.connection as EditorConnection;
      // The token request has its own time limit. The frame's starts again when the token is there.
      if (hasGreeted && !this.tokens.token) return;
      const what = hasGreeted
        ? 'greeted but did not say ready; see timeout'
        : withToken
          ? 'did not load; see editor-url and timeout'
          : `did not greet; see editor-url and token-delivery. Its service may forbid this page to frame it: EDITOR_ANCESTORS may not name ${location.origin}`;
      this.#fail(
        new PluginEditorError(
          'frame-timeout',
          `In ${timeout} ms the editor at ${editorFrame.origin} ${what}`,
        ),
      );
    }, timeout);
  }

  /** Whether the running editor can be given a new token. */
  get canDeliver(): boolean {
    const { hasGreeted, withToken } = this.connection ?? { withToken: true };
    return hasGreeted || !withToken;
  }

  /** Asks the editor to save; see `EditorConnection.save`. */
  async save(timeout: number): Promise<void> {
    if (!this.connection?.canPost('save'))
      throw new PluginEditorError('editor', 'The editor cannot be asked to save');
    await this.connection.save(timeout);
  }

  /** Ends requests and timers, and the session with the editor. */
  #reset(keepToken = false): void {
    clearTimeout(this.#timer);
    this.tokens.reset(keepToken);
    this.assistantCalls.end();
    this.connection?.endSession();
  }

  /** Removes the frame. */
  #disconnect(): void {
    clearTimeout(this.#timer);
    this.tokens.knownTokens = [];
    this.connection?.dispose();
    this.connection = this.#editorUrl = undefined;
  }

  /** Ends everything, and removes the frame at once. With `keepToken`, a token that is still valid stays. */
  stop(keepToken?: boolean): void {
    this.#reset(keepToken);
    this.#disconnect();
    this.#config = undefined;
  }

  /** Ends everything, and has the editor forget its token first. */
  async close(): Promise<void> {
    const { connection } = this;
    const wasPosted = this.post({ type: 'close' });
    this.#reset();
    if (wasPosted) {
      const { signal } = this.tokens;
      await new Promise<unknown>((resolve) => {
        this.#timer = setTimeout(resolve, CLOSE_DELAY);
        signal.addEventListener('abort', resolve);
      });
    }
    if (connection === this.connection) this.stop();
  }
}
