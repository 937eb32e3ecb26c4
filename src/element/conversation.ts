import {
  CHANNEL,
  type EditorMessage,
  type LauncherMessage,
  type PluginToOpen,
  type Unaddressed,
  VERSION,
} from '../core/messages.ts';
import { parseEditorMessage } from '../core/parse-editor-message.ts';
import type { EditorFrame } from './frame.ts';

/** What the editor says of the plugin it was asked to open last. */
export type PluginMessage = Exclude<Unaddressed<EditorMessage>, { type: 'hello' }>;

/** How long a `hello` after the first waits for its answer, in ms. All that come meanwhile share it, so a flood is cheap. */
const HELLO_DELAY = 200;

/**
 * The launcher's half of the frame protocol with one frame. A page that loads in the frame sends `hello` and is answered
 * with `open`. Each `open` has a fresh `session`: a late message about one plugin is never taken for one about the next.
 */
export class Conversation {
  /** Whether the frame's address holds the token. */
  declare readonly withToken: boolean;
  /** Whether the frame was never told of a plugin, by address or message. */
  declare untold: boolean;

  #frame: EditorFrame;
  #capabilities: string[] | undefined;
  #session: string | undefined;
  #answer: ReturnType<typeof setTimeout> | undefined;

  /** @param tokens those that the frame may know; they are taken out of every message */
  constructor(
    frame: EditorFrame,
    withToken: boolean,
    tokens: () => readonly string[],
    onHello: (isFirst: boolean) => void,
    onMessage: (message: PluginMessage) => void,
  ) {
    this.#frame = frame;
    this.withToken = withToken;
    this.untold = !withToken;
    frame.onMessage = (data) => {
      const message = parseEditorMessage(data, this.#session, tokens());
      if (message?.type === 'hello') {
        const isFirst = !this.#capabilities;
        this.#capabilities = message.capabilities ?? [];
        this.forget();
        if (isFirst) onHello(true);
        else {
          this.#answer ??= setTimeout(() => {
            this.dispose();
            onHello(false);
          }, HELLO_DELAY);
        }
      } else if (message) {
        onMessage(message);
      }
    };
  }

  /** Whether the page in the frame speaks the protocol. */
  get greeted(): boolean {
    return !!this.#capabilities;
  }

  can(capability: string): boolean {
    return !!this.#capabilities?.includes(capability);
  }

  open(plugin: PluginToOpen): void {
    // A `hello` that still waits is answered by this.
    this.dispose();
    // Not randomUUID, which pages without TLS do not have.
    this.#session = crypto.getRandomValues(new Uint32Array(4)).join('-');
    this.untold = false;
    this.post({ type: 'open', ...plugin });
  }

  /** Posts a message about the open plugin; returns false when there is none. */
  post(message: Unaddressed<LauncherMessage>): boolean {
    const session = this.#session;
    if (session) this.#frame.post({ channel: CHANNEL, version: VERSION, session, ...message });
    return !!session;
  }

  /** Ignores what the editor still says about the plugin. */
  forget(): void {
    this.#session = undefined;
  }

  /** Clears the timer of an answer that waits. */
  dispose(): void {
    clearTimeout(this.#answer);
    this.#answer = undefined;
  }
}
