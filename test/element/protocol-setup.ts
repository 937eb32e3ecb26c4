import type { LauncherMessage } from '../../src/core/messages.ts';
import {
  type Changes,
  type PluginEditorElement,
  apply,
  create,
  frameOf,
  place,
} from './plugin-editor-setup.ts';
import { type Rule, type ScriptedServer, scriptedServer } from '../support/scripted-server.ts';

export const CHANNEL = { channel: 'plugin-editor', version: 1 };

/** What a page in a frame heard, and which page that was. */
export type Heard = LauncherMessage & { channel: string; version: number; session: string } & Record<
    string,
    unknown
  >;

/**
 * An editor's page that does what the test tells it: it greets when it loads, hands on what it hears to the test, says
 * what the test bids it say, and answers an `open` with `ready` unless its address has `?mute`.
 */
export function talkingPage({
  hello = {},
  script = '',
}: { hello?: object | null; script?: string } = {}): string {
  return `<!doctype html><meta charset="utf-8"><title>Editor</title><p>Editor</p><script>
    const all = ${JSON.stringify(CHANNEL)};
    const say = (message) => parent.postMessage({ ...all, ...message }, '*');
    addEventListener('message', ({ data, origin }) => {
      if (data.bid) eval(data.bid);
      else {
        parent.postMessage({ heard: data, from: origin, page: location.href }, '*');
        if (data.type === 'open' && !location.search.includes('mute')) say({ type: 'ready', session: data.session });
      }
    });
    ${hello ? `say({ type: 'hello', ...${JSON.stringify(hello)} });` : ''}
    ${script}
  </script>`;
}

/** A server whose editor speaks, with the given rules first; the token endpoint counts its tokens. */
export async function talkingServer(hello: object | null = {}, ...rules: Rule[]): Promise<ScriptedServer> {
  return scriptedServer(
    ...rules,
    { path: '/token', times: 1, json: { token: 'token-1' } },
    { path: '/token', times: 1, json: { token: 'token-2' } },
    { path: '/token', json: { token: 'token-3' } },
    { path: '/editor*', html: talkingPage({ hello }) },
    { path: '/ping', body: '' },
  );
}

/** Everything that pages in frames handed on until the end of the test. */
export interface Ear {
  heard: (Heard & { from: string; page: string; by: Window })[];
  /** Waits until a message of that type was heard so many times, and gives the last one. */
  until(type: string, times?: number): Promise<Heard>;
  of(type: string): Heard[];
  session(): string;
}

let stop = new AbortController();

afterEach(() => {
  stop.abort();
  stop = new AbortController();
});

export function listen(): Ear {
  const ear: Ear = {
    heard: [],
    of: (type) => ear.heard.filter((each) => each.type === type),
    session: () => ear.of('open').at(-1)?.session ?? '',
    until: (type, times = 1) =>
      new Promise((resolve) => {
        const look = () => {
          const found = ear.of(type)[times - 1];
          if (found) resolve(found);
          else addEventListener('message', () => queueMicrotask(look), { once: true, signal: stop.signal });
        };
        look();
      }),
  };
  addEventListener(
    'message',
    ({ data, source }) => {
      if (data?.heard)
        ear.heard.push({ ...data.heard, from: data.from, page: data.page, by: source as Window });
    },
    { signal: stop.signal },
  );
  return ear;
}

/** Has the page in a frame run that. */
export const bid = (target: Window | null, code: string): void => target?.postMessage({ bid: code }, '*');

/** Has the editor say something in its present session. */
export function say(element: PluginEditorElement, ear: Ear, message: Record<string, unknown>): void {
  bid(frameOf(element).contentWindow, `say(${JSON.stringify({ session: ear.session(), ...message })})`);
}

/** After this, all that the page in the frame was bidden to say before has come in. */
export async function heardOut(target: HTMLIFrameElement | PluginEditorElement): Promise<void> {
  const frame = target instanceof HTMLIFrameElement ? target : frameOf(target);
  const mark = Math.random();
  const back = new Promise<void>((resolve) => {
    addEventListener('message', ({ data }) => data?.mark === mark && resolve(), { signal: stop.signal });
  });
  bid(frame.contentWindow, `parent.postMessage({ mark: ${mark} }, '*')`);
  await back;
}

/** A complete element in `message` delivery, in the page. */
export function mountTalking(server: ScriptedServer, changes: Changes = {}): PluginEditorElement {
  const element = create(server, { 'token-delivery': 'message', ...changes });
  place().append(element);
  return element;
}

/** All events of the element by name, as they come, the ones about states left out. */
export function saidEvents(element: PluginEditorElement): (Event & Record<string, unknown>)[] {
  const seen: (Event & Record<string, unknown>)[] = [];
  for (const name of [
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
  ]) {
    document.addEventListener(
      `plugin-editor-${name}`,
      (event) => {
        if (event.composedPath()[0] === element) seen.push(event as Event & Record<string, unknown>);
      },
      { signal: stop.signal },
    );
  }
  return seen;
}

export const named = <T extends Event>(events: T[], name: string): T[] =>
  events.filter(({ type }) => type === `plugin-editor-${name}`);

export { apply };
