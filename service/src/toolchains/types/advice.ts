import { unknownLibrary } from '../build/imports.ts';
import type { PluginTypes } from './declarations.ts';

/*
 * TypeScript's advice on missing names is for programs in Node or in a browser. A plugin can install nothing and has no
 * configuration, so the messages for its author name what to use instead.
 */

const withAdvice = (advice: string, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, advice]));

const noNetwork = 'Plugins have no network: take what is needed from the input.';
const noTimers = 'Plugins have no timers: a run ends with the result of "run".';

/** What holds instead where plugins may make calls. */
const connectedAdvice: Readonly<Record<string, string>> = {
  [noNetwork]: 'Plugins make calls by fetch(url, options) alone.',
  [noTimers]: 'The only timer of plugins is setTimeout.',
};

const adviceByName: Readonly<Record<string, string>> = {
  ...withAdvice(noNetwork, [
    'fetch',
    'XMLHttpRequest',
    'WebSocket',
    'Request',
    'Response',
    'AbortController',
    'AbortSignal',
    'EventSource',
  ]),
  ...withAdvice(noTimers, ['setTimeout', 'setInterval', 'setImmediate']),
  ...withAdvice('Plugins do not run in a browser.', [
    'document',
    'window',
    'self',
    'navigator',
    'location',
    'alert',
    'confirm',
    'prompt',
    'HTMLElement',
    'Blob',
    'File',
    'FormData',
  ]),
  localStorage: 'Plugins do not run in a browser, and nothing is kept from one run to the next.',
  sessionStorage: 'Plugins do not run in a browser, and nothing is kept from one run to the next.',
  ...withAdvice('Plugins do not run in Node.', ['process', 'Buffer', '__dirname', '__filename']),
  global: 'Plugins do not run in Node: its name in the language is "globalThis".',
  require: 'A plugin is one file: it cannot load another.',
  module: 'Plugins are modules: write "export function run(input)".',
  exports: 'Plugins are modules: write "export function run(input)".',
};

const generalAdvice = (isConnected: boolean) =>
  `Plugins have the language itself, Intl, ${isConnected ? 'fetch, setTimeout, ' : ''}console, URL, Headers, TextEncoder, TextDecoder, structuredClone, crypto, performance.now, atob, btoa and queueMicrotask.`;

// Names that browsers or Node have besides those of the language, and plugins do not.
const namesElsewhere = new Set([
  'clearTimeout',
  'clearInterval',
  'Event',
  'EventTarget',
  'WebAssembly',
  'Deno',
  'Bun',
]);

/** The beginning of the advice, in a message, on what to install or to configure. */
const advice =
  /(?: Do you need to (?:install type definitions|change your target library)\b| Try `npm i\b| Try changing the '| Did you forget to include)/;

const missingName = /^Cannot find name '([^']+)'/;

/**
 * Adapts a message of the compiler to plugins with these types. `marked`: the beginning of the text that the message is about.
 */
export function adviceForPlugins(
  message: string,
  marked: string,
  { libraries, isConnected = false }: Pick<PluginTypes, 'libraries' | 'isConnected'>,
): string {
  // For a module of Node the compiler reports a missing name; the quote shows that it is the name of a module.
  if (message.startsWith('Cannot find module ') || (/^['"`]/.test(marked) && missingName.test(message))) {
    return unknownLibrary(libraries);
  }
  const name = missingName.exec(message)?.[1];
  const found = advice.exec(message);
  const cut = found ? message.slice(0, found.index) : message;
  if (name === undefined) return cut;
  if (Object.hasOwn(adviceByName, name)) {
    const known = adviceByName[name] ?? '';
    return `Cannot find name '${name}'. ${(isConnected && connectedAdvice[known]) || known}`;
  }
  return found || namesElsewhere.has(name)
    ? `Cannot find name '${name}'. ${generalAdvice(isConnected)}`
    : cut;
}

/** The compiler's codes for a missing name, with and without a suggestion of what was meant or what to install. */
const missingNameCodes = new Set([2304, 2552, 2580, 2581, 2582, 2583, 2584, 2591, 2592, 2593, 2868]);

/**
 * The severity of a type error in JavaScript. Most are warnings, because such a plugin may run as intended. A missing name is an
 * error, because it throws as soon as it is reached; but `undefined` for one that the source checks by `typeof` or
 * `globalThis`: that is no problem at all.
 */
export function severityInJavaScript(
  { code, message }: { readonly code: number; readonly message: string },
  source: string,
): 'error' | 'warning' | undefined {
  const name = missingNameCodes.has(code) ? missingName.exec(message)?.[1] : undefined;
  if (name === undefined) return 'warning';
  const isChecked = [`typeof ${name}`, `typeof(${name}`, `globalThis.${name}`, `globalThis['${name}'`].some(
    (use) => source.includes(use),
  );
  return isChecked ? undefined : 'error';
}
