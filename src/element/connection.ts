import type { NamesWith } from '../core/config.ts';
import { PluginEditorError, isPluginEditorError } from '../core/errors.ts';
import {
  CHANNEL,
  type EditorMessage,
  type LauncherMessage,
  type PluginToOpen,
  VERSION,
} from '../core/messages.ts';
import { parseEditorMessage } from '../core/parse-editor-message.ts';
import { withTimeLimit } from '../core/time-limit.ts';

/** A message about the plugin that the editor was asked to open last. */
export type PluginMessage = Exclude<EditorMessage, { type: 'hello' | 'save-result' }>;

/**
 * How long `open` is delayed after a `hello` that is not the first, in ms. One `open` answers every `hello` that arrives
 * meanwhile, so that a flood of them costs little.
 */
const HELLO_DELAY = 200;

export interface ConnectionOptions extends FrameOptions {
  /** Whether the frame's address holds the token. */
  withToken: boolean;
  /** The tokens that the editor may know. They are removed from every message. */
  knownTokens: () => readonly string[];
  /** A page loaded in the frame and greeted. */
  onHello: (isFirst: boolean) => void;
  onMessage: (message: PluginMessage) => void;
}

interface SaveRequest extends PromiseWithResolvers<void> {
  id: string;
  /** How many calls wait for it. */
  callers: number;
}

/**
 * The connection with one editor: its frame, and the launcher's half of the frame protocol. A page that loads in the frame
 * sends `hello` and is answered with `open`. Each `open` has a new `session`, so that a late message about one plugin is
 * never taken for one about the next.
 */
export class EditorConnection {
  declare readonly editorFrame: EditorFrame;
  declare readonly withToken: boolean;
  /**
   * How far the editor is. `blank`: it was given no plugin, by address or message; `opening`: it was given one, and has not said
   * `ready` since; `ready`: it has.
   */
  declare phase: 'blank' | 'opening' | 'ready';

  #capabilities: string[] | undefined;
  #session: string | undefined;
  #helloTimer: ReturnType<typeof setTimeout> | undefined;
  #saveRequest: SaveRequest | undefined;
  #saveCount = 0;

  constructor({ withToken, knownTokens, onHello, onMessage, ...frameOptions }: ConnectionOptions) {
    this.withToken = withToken;
    this.phase = withToken ? 'opening' : 'blank';
    this.editorFrame = new EditorFrame(frameOptions);
    this.editorFrame.onMessage = (data) => {
      const message = parseEditorMessage(data, this.#session, knownTokens());
      if (message?.type === 'hello') {
        const isFirst = !this.#capabilities;
        this.#capabilities = message.capabilities ?? [];
        this.endSession();
        if (isFirst) {
          onHello(true);
        } else {
          this.#helloTimer ??= setTimeout(() => {
            this.#cancelHelloTimer();
            onHello(false);
          }, HELLO_DELAY);
        }
      } else if (message?.type === 'save-result') {
        if (message.request === this.#saveRequest?.id) this.#endSave(message.error);
      } else if (message) {
        onMessage(message);
      }
    };
  }

  /** Whether the page in the frame speaks the protocol. */
  get hasGreeted(): boolean {
    return !!this.#capabilities;
  }

  /** Whether the editor has this capability, as its `hello` said. */
  supports(capability: string): boolean {
    return !!this.#capabilities?.includes(capability);
  }

  /** Whether a plugin is open, and the editor takes messages about it that need this capability. */
  canPost(capability: string): boolean {
    return !!this.#session && this.supports(capability);
  }

  /** Asks the editor to open a plugin, in a new session. */
  open(plugin: PluginToOpen): void {
    // A `hello` that is still to be answered is answered by this, too.
    this.#cancelHelloTimer();
    this.endSession();
    // `crypto.randomUUID` exists only in secure contexts.
    this.#session = crypto.getRandomValues(new Uint32Array(4)).join('-');
    this.phase = 'opening';
    this.post({ type: 'open', ...plugin });
  }

  /** Whether the editor was asked to save, and has not answered. */
  get isSaving(): boolean {
    return !!this.#saveRequest;
  }

  /**
   * Asks the editor to save, unless it was asked before and has not answered. Rejects with a `PluginEditorError` of code
   * `editor` when it could not, when it did not answer within `timeout` ms, and when another session begins meanwhile.
   */
  async save(timeout: number): Promise<void> {
    let save = this.#saveRequest;
    if (!save) {
      save = { id: String(++this.#saveCount), callers: 0, ...Promise.withResolvers<void>() };
      this.#saveRequest = save;
      this.post({ type: 'save-request', request: save.id });
    }
    const { promise } = save;
    save.callers++;
    try {
      await withTimeLimit(() => promise, timeout, 'The editor');
    } catch (error) {
      throw isPluginEditorError(error) ? error : new PluginEditorError('editor', (error as Error).message);
    } finally {
      // When all calls have settled, the next call sends a new request.
      if (!--save.callers && this.#saveRequest === save) this.#saveRequest = undefined;
    }
  }

  /** Settles the save request; a result that comes later is ignored. */
  #endSave(failure?: string): void {
    const save = this.#saveRequest;
    this.#saveRequest = undefined;
    if (failure === undefined) save?.resolve();
    else save?.reject(new PluginEditorError('editor', `The editor did not save: ${failure}`));
  }

  /** Posts a message about the open plugin; returns false when there is none. */
  post(message: LauncherMessage): boolean {
    const session = this.#session;
    // The round trip through JSON leaves out fields that are `undefined`.
    if (session)
      this.editorFrame.post(
        JSON.parse(JSON.stringify({ channel: CHANNEL, version: VERSION, session, ...message })),
      );
    return !!session;
  }

  /** Ends the session: what the editor still says about its plugin is ignored. */
  endSession(): void {
    this.#session = undefined;
    this.#endSave('the plugin was closed');
  }

  #cancelHelloTimer(): void {
    clearTimeout(this.#helloTimer);
    this.#helloTimer = undefined;
  }

  /** Removes the frame, timers and listeners. */
  dispose(): void {
    this.#cancelHelloTimer();
    this.endSession();
    this.editorFrame.dispose();
  }
}

/** Attributes of the frame that the page decides; `null` leaves one out. `label` becomes the `title`. */
export type FrameAttributes = Record<'title' | Exclude<NamesWith<'iframe'>, 'label'>, string | null>;

export interface FrameOptions {
  url: string;
  onLoad: () => void;
  /** Called when the page's content security policy forbids the frame. */
  onBlocked: () => void;
}

/**
 * One `<iframe>` and its listeners. It loads when it is put into the page, which comes after its first `setAttributes`. The
 * address of a live frame is never changed, because that would add an entry to the page's history. Another address needs another
 * `EditorFrame`.
 */
export class EditorFrame {
  declare readonly iframe: HTMLIFrameElement;
  declare readonly origin: string;
  /** Called with what the frame's own window posted from the editor's origin, and with nothing else. */
  declare onMessage: ((data: unknown) => void) | undefined;

  #listeners = new AbortController();
  #loadTimer: ReturnType<typeof setTimeout> | undefined;
  /** Whether a page has loaded, so that a violation is of another frame. */
  #hasLoaded = false;

  constructor({ url, onLoad, onBlocked }: FrameOptions) {
    const iframe = (this.iframe = document.createElement('iframe'));
    const options = { signal: this.#listeners.signal };
    const { origin } = new URL(url);
    this.origin = origin;
    iframe.setAttribute('part', 'frame');
    iframe.src = url;
    iframe.addEventListener(
      'load',
      () => {
        clearTimeout(this.#loadTimer);
        // WebKit fires `load` for a blocked frame, too, and reports the violation one task later.
        this.#loadTimer = setTimeout(() => {
          this.#hasLoaded = true;
          onLoad();
        });
      },
      options,
    );
    addEventListener(
      'message',
      (event) => {
        const { source } = event;
        // `source` is `null` when the window has gone, and `contentWindow` is when the frame is not in the page.
        if (source && source === iframe.contentWindow && event.origin === origin) {
          this.#hasLoaded = true;
          this.onMessage?.(event.data);
        }
      },
      options,
    );
    // The event is dispatched on the document, not on the frame, and the frame may still fire `load`.
    document.addEventListener(
      'securitypolicyviolation',
      ({ disposition, effectiveDirective, blockedURI }) => {
        // Chromium reports only the origin of the address, and another one may be the beginning of ours.
        if (
          !this.#hasLoaded &&
          disposition === 'enforce' &&
          /^(frame|child)-src/.test(effectiveDirective) &&
          blockedURI.length >= origin.length &&
          url.startsWith(blockedURI)
        ) {
          onBlocked();
        }
      },
      options,
    );
  }

  /** Posts only to the editor's origin, so that a page of another origin in the frame receives nothing. */
  post(message: object): void {
    this.iframe.contentWindow?.postMessage(message, this.origin);
  }

  /** Sets what differs. `sandbox` and `allow` take effect when the frame next loads, as in any frame. */
  setAttributes(attributes: FrameAttributes): void {
    warnOfOwnOrigin(this.origin, attributes.sandbox);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null) this.iframe.removeAttribute(name);
      else if (value !== this.iframe.getAttribute(name)) this.iframe.setAttribute(name, value);
    }
  }

  /** Removes frame and listeners. A frame that stayed would load again if its host is put back in the same task. */
  dispose(): void {
    this.iframe.remove();
    clearTimeout(this.#loadTimer);
    this.#listeners.abort();
  }
}

let hasWarned = false;

function warnOfOwnOrigin(origin: string, sandbox: string | null): void {
  const canLiftSandbox = sandbox?.includes('allow-scripts') && sandbox.includes('allow-same-origin');
  if (hasWarned || !canLiftSandbox || origin !== location.origin) return;
  hasWarned = true;
  console.warn(
    "<plugin-editor>: an editor on the page's own origin could lift its sandbox; serve it from another origin",
  );
}
