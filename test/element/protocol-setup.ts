import type { LauncherMessage } from '../../src/core/messages.ts';
import {
  type Changes,
  type PluginEditorElement,
  apply,
  create,
  eventsOf,
  frameOf,
  place,
} from './plugin-editor-setup.ts';
import { type Rule, type ScriptedServer, scriptedServer } from '../support/scripted-server.ts';

export const CHANNEL = { channel: 'plugin-editor', version: 1 };

/** A message of the launcher that a page in a frame received. */
export type ReceivedMessage = LauncherMessage & {
  channel: string;
  version: number;
  session: string;
} & Record<string, unknown>;

/**
 * An editor's page under the test's control: it greets when it loads, passes the messages that it receives on to the test,
 * evaluates code for the test, and answers an `open` with `ready` unless its URL has `?mute`.
 */
export function protocolPage({
  hello = {},
  script = '',
}: { hello?: object | null; script?: string } = {}): string {
  return `<!doctype html><meta charset="utf-8"><title>Editor</title><p>Editor</p><script>
    const all = ${JSON.stringify(CHANNEL)};
    const send = (message) => parent.postMessage({ ...all, ...message }, '*');
    addEventListener('message', ({ data, origin }) => {
      if (data.evaluate) eval(data.evaluate);
      else {
        parent.postMessage({ received: data, from: origin, page: location.href }, '*');
        if (data.type === 'open' && !location.search.includes('mute')) send({ type: 'ready', session: data.session });
      }
    });
    ${hello ? `send({ type: 'hello', ...${JSON.stringify(hello)} });` : ''}
    ${script}
  </script>`;
}

/** A server whose editor uses the protocol, with the given rules first; the token endpoint numbers its tokens. */
export async function protocolServer(hello: object | null = {}, ...rules: Rule[]): Promise<ScriptedServer> {
  return scriptedServer(
    ...rules,
    { path: '/token', times: 1, json: { token: 'token-1' } },
    { path: '/token', times: 1, json: { token: 'token-2' } },
    { path: '/token', json: { token: 'token-3' } },
    { path: '/editor*', html: protocolPage({ hello }) },
    { path: '/ping', body: '' },
  );
}

/** All messages that pages in frames passed on until the end of the test. */
export interface ReceivedMessages {
  messages: (ReceivedMessage & { from: string; page: string; by: Window })[];
  /** Waits until `times` messages of that type were received, and resolves with the last one. */
  until(type: string, times?: number): Promise<ReceivedMessage>;
  of(type: string): ReceivedMessage[];
  session(): string;
}

let stop = new AbortController();

afterEach(() => {
  stop.abort();
  stop = new AbortController();
});

/** Is aborted at the end of the test. */
export const testSignal = (): AbortSignal => stop.signal;

export function recordMessages(): ReceivedMessages {
  const received: ReceivedMessages = {
    messages: [],
    of: (type) => received.messages.filter((each) => each.type === type),
    session: () => received.of('open').at(-1)?.session ?? '',
    until: (type, times = 1) =>
      new Promise((resolve) => {
        const look = () => {
          const found = received.of(type)[times - 1];
          if (found) resolve(found);
        };
        const handleMessage = ({ data }: MessageEvent) => {
          // Looking at each of thousands of other messages would take longer than they do.
          if (data?.received?.type === type) queueMicrotask(look);
        };
        addEventListener('message', handleMessage, { signal: stop.signal });
        look();
      }),
  };
  addEventListener(
    'message',
    ({ data, source }) => {
      if (data?.received)
        received.messages.push({ ...data.received, from: data.from, page: data.page, by: source as Window });
    },
    { signal: stop.signal },
  );
  return received;
}

/** Evaluates code in the page of a frame. */
export const evaluateIn = (target: Window | null, code: string): void =>
  target?.postMessage({ evaluate: code }, '*');

/** Makes the editor send a message, in its present session unless the message names one. */
export function sendFromEditor(
  element: PluginEditorElement,
  received: ReceivedMessages,
  message: Record<string, unknown>,
): void {
  evaluateIn(
    frameOf(element).contentWindow,
    `send(${JSON.stringify({ session: received.session(), ...message })})`,
  );
}

/** After this, all messages that the page in the frame was told to send before have arrived. */
export async function flushMessages(target: HTMLIFrameElement | PluginEditorElement): Promise<void> {
  const frame = target instanceof HTMLIFrameElement ? target : frameOf(target);
  const mark = Math.random();
  const back = new Promise<void>((resolve) => {
    addEventListener('message', ({ data }) => data?.mark === mark && resolve(), { signal: stop.signal });
  });
  evaluateIn(frame.contentWindow, `parent.postMessage({ mark: ${mark} }, '*')`);
  await back;
}

/** A complete element with `message` delivery, in the page. */
export function mountWithMessages(server: ScriptedServer, changes: Changes = {}): PluginEditorElement {
  const element = create(server, { 'token-delivery': 'message', ...changes });
  place().append(element);
  return element;
}

/** Collects the events of the element, other than those about its state. */
export const recordEvents = (element: PluginEditorElement): (Event & Record<string, unknown>)[] =>
  eventsOf(element, [
    'ready',
    'error',
    'expiring',
    'discard',
    'dirty',
    'save',
    'build',
    'test',
    'deploy',
    'live',
  ]);

export const named = <T extends Event>(events: T[], name: string): T[] =>
  events.filter(({ type }) => type === `plugin-editor-${name}`);

export { apply };
