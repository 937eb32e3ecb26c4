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

/** A page that greets again is answered after this time, in ms, and once for all greetings that came meanwhile. */
const HELLO_DELAY = 200;

/**
 * The launcher's half of the frame protocol with one frame. A page that loads in the frame greets, and is told what to
 * open; a fresh `session` for each `open` keeps a late word about one plugin from being booked on the next.
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

  /** @param tokens what the frame may know of, and what the editor says is to be kept free of */
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
    // This answers a greeting that waits, too.
    this.dispose();
    // Not randomUUID, which pages without TLS do not have.
    this.#session = crypto.getRandomValues(new Uint32Array(4)).join('-');
    this.untold = false;
    this.post({ type: 'open', ...plugin });
  }

  /** Says something about the open plugin; false when none is. */
  post(message: Unaddressed<LauncherMessage>): boolean {
    const session = this.#session;
    if (session) this.#frame.post({ channel: CHANNEL, version: VERSION, session, ...message });
    return !!session;
  }

  /** What the editor still says about the plugin is no longer heard. */
  forget(): void {
    this.#session = undefined;
  }

  /** Leaves no timer. */
  dispose(): void {
    clearTimeout(this.#answer);
    this.#answer = undefined;
  }
}
