import '../../src/plugin-editor.ts';
import type { PluginEditorElement } from '../../src/plugin-editor.ts';
import { parseEditorUrl } from '../../src/client.ts';
import type { FakeFrame, FakeWorld } from './fake-world.ts';

/** What the page around an element knows: the attributes that it set, and the events that it received. */
export interface Model {
  attributes: Map<string, string>;
  connected: boolean;
  closed: boolean;
  /** The page keeps unsaved work: the editor may show another plugin than the attributes name, until it is saved. */
  keepsWork: boolean;
  /** Whether a change is delayed. */
  putOff: boolean;
  /** How many calls of `reload()` are pending: an editor that runs stays until its successor has a token. */
  reloading: number;
  /** The page came back from the cache: refused a token then, the element closes by itself. */
  restored: boolean;
}

export interface Life {
  world: FakeWorld;
  element: PluginEditorElement;
  place: HTMLElement;
  /** The plugin and the endpoint that each token was requested for, and whether its request was aborted. */
  tokens: Map<string, { plugin: string; endpoint: string; late: boolean }>;
  /** Errors in event listeners and handlers, which would otherwise go unnoticed. */
  faults: string[];
}

const REQUIRED = ['editor-url', 'builder', 'ident', 'fn', 'token-endpoint'];
export function begin(world: FakeWorld, attributes: Record<string, string>): Life {
  const place = document.createElement('div');
  const element = document.createElement('plugin-editor');
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  document.body.append(place);
  // The inner element is a place to move the editor to and back.
  place.append(document.createElement('div'), element);
  return { world, element, place, tokens: new Map(), faults: [] };
}

export const pluginIn = (values: Record<string, unknown>): string =>
  ['ident', 'namespace', 'fn'].map((name) => (values[name] as string | undefined) ?? 'default').join('/');

export const framesIn = ({ element }: Life): Element[] => [
  ...(element.shadowRoot?.querySelectorAll('[part=frame]') ?? []),
];

export const current = (life: Life): FakeFrame | undefined =>
  life.world.frames.find(({ element }) => element === framesIn(life)[0]);

export const openOf = (frame: FakeFrame | undefined) =>
  frame?.posted.findLast(({ message }) => message['type'] === 'open')?.message;

/** Origin and path of an address. */
export const placeOf = (address = ''): string => {
  const { origin, pathname } = new URL(address, document.baseURI);
  return origin + pathname;
};

export const fail = (what: string): never => {
  throw new Error(what);
};

/** Checks what must hold at every moment. */
export function check(
  { attributes, connected, closed, putOff, reloading, restored }: Model,
  life: Life,
): void {
  const { world, element, tokens, faults } = life;
  if (faults.length) fail(faults.join('; '));
  const inPage = world.frames.filter((frame) => frame.element.isConnected);
  if (inPage.length > 1) fail(`${inPage.length} frames`);

  if (!connected || closed) {
    if (element.state !== 'idle') fail(`${element.state} though removed or closed`);
    if (world.requests.some((one) => !one.answered && !one.aborted)) fail('a request is still wanted');
  }
  if (!connected) {
    if (inPage.length) fail('a frame outlives its element');
    const { timers, listeners, observers } = world.left;
    if (timers + listeners + observers) fail(`left behind: ${JSON.stringify(world.left)}`);
  }
  if (element.state === 'idle' && connected && !closed && !putOff && !restored) {
    const missing = REQUIRED.some((name) => !attributes.get(name));
    const lazy = attributes.get('loading') === 'lazy';
    if (!missing && !lazy) fail('idle with all that is needed');
  }
  if (element.state === 'loading') {
    const pending = world.requests.some((one) => !one.answered && !one.aborted);
    if (!world.left.timers) fail(`loading without a time limit, ${pending ? 'and' : 'not even'} a request`);
  }

  // A token is only used where it was requested for, and not when its request was superseded.
  for (const frame of world.frames) {
    const url = new URL(frame.element.src);
    if (url.searchParams.has('token')) {
      const { token = '', ...target } = parseEditorUrl(frame.element.src);
      checkToken(tokens, token, pluginIn(target));
    }
    let plugin = '';
    for (const { message, origin } of frame.posted) {
      if (origin !== url.origin) fail(`posted to ${origin} in a frame of ${url.origin}`);
      if (message['type'] === 'open') plugin = pluginIn(message);
      if ('token' in message) checkToken(tokens, message['token'] as string, plugin);
    }
  }

  if (element.state === 'ready' && !putOff && !reloading) {
    checkShown(attributes, current(life) ?? fail('ready without a frame'), tokens);
  }
}

/** An editor that is ready shows the plugin of the attributes, from their URL and with a token of their endpoint. */
function checkShown(attributes: Model['attributes'], frame: FakeFrame, tokens: Life['tokens']): void {
  const expected = Object.fromEntries(
    ['ident', 'namespace', 'fn', 'builder', 'template'].map((name) => [
      name,
      attributes.get(name) || undefined,
    ]),
  );
  const { src } = frame.element;
  const byAddress = new URL(src).searchParams.get('token');
  const opened: Record<string, unknown> =
    openOf(frame) ?? (byAddress ? { ...parseEditorUrl(src) } : fail('ready, and told nothing'));
  const all = (values: Record<string, unknown>) =>
    `${pluginIn(values)} of ${String(values['builder'])} in ${String(values['template'])}`;
  if (all(opened) !== all(expected)) fail(`shows ${all(opened)}, not ${all(expected)}`);

  const page = placeOf(attributes.get('editor-url'));
  if (placeOf(src) !== page) fail(`a frame at ${src}, not at ${page}`);

  const sentToken = frame.posted.findLast(({ message }) => 'token' in message)?.message['token'] ?? byAddress;
  const { endpoint } = tokens.get(sentToken as string) ?? fail('ready without a token');
  const requestedPlugin = placeOf(attributes.get('token-endpoint'));
  if (endpoint !== requestedPlugin) fail(`a token of ${endpoint}, not of ${requestedPlugin}`);
}

function checkToken(tokens: Life['tokens'], token: string, plugin: string): void {
  const known = tokens.get(token) ?? fail(`a token that nobody gave: ${token}`);
  if (known.plugin !== plugin) fail(`a token of ${known.plugin} used for ${plugin}`);
  if (known.late) fail(`the answer to a request that was given up is used for ${plugin}`);
}
