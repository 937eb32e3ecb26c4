/*
 * What TypeScript advises when something is missing is for a program in Node or in a browser. A plugin can install nothing and
 * has no configuration, so it is told what to use instead.
 */

const withAdvice = (advice: string, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, advice]));

const adviceByName: Readonly<Record<string, string>> = {
  fetch: 'Plugins have no network: take what is needed from the input.',
  XMLHttpRequest: 'Plugins have no network: take what is needed from the input.',
  WebSocket: 'Plugins have no network: take what is needed from the input.',
  setTimeout: 'Plugins have no timers: a run ends when "run" has answered.',
  setInterval: 'Plugins have no timers: a run ends when "run" has answered.',
  setImmediate: 'Plugins have no timers: a run ends when "run" has answered.',
  ...withAdvice('Plugins have no network: take what is needed from the input.', [
    'Headers',
    'Request',
    'Response',
    'AbortController',
    'EventSource',
  ]),
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

const generalAdvice =
  'Plugins have the language itself, console, performance.now, atob, btoa and queueMicrotask.';

// What browsers and Node have beside the language, and plugins have not.
const namesElsewhere = new Set([
  'URL',
  'URLSearchParams',
  'TextEncoder',
  'TextDecoder',
  'structuredClone',
  'crypto',
  'clearTimeout',
  'clearInterval',
  'Event',
  'EventTarget',
  'WebAssembly',
  'Deno',
  'Bun',
]);

/** From here on, a message is advice on what to install or to configure. */
const advice =
  /(?: Do you need to (?:install type definitions|change your target library)\b| Try `npm i\b| Try changing the '| Did you forget to include)/;

const missingName = /^Cannot find name '([^']+)'/;

/** A message of the compiler's as it applies to a plugin. `marked`: the text that it is about, or how that begins. */
export function adviceForPlugins(message: string, marked: string): string {
  // Modules of Node are said to be missing names, in quotes as all modules are.
  if (message.startsWith('Cannot find module ') || (/^['"`]/.test(marked) && missingName.test(message))) {
    return 'A plugin is one file: it cannot import another, nor a package.';
  }
  const name = missingName.exec(message)?.[1];
  const found = advice.exec(message);
  const cut = found ? message.slice(0, found.index) : message;
  if (name === undefined) return cut;
  if (Object.hasOwn(adviceByName, name)) return `Cannot find name '${name}'. ${adviceByName[name]}`;
  return found || namesElsewhere.has(name) ? `Cannot find name '${name}'. ${generalAdvice}` : cut;
}

/** The compiler's codes for: there is no such name, with and without a guess at what was meant or what is missing. */
const missingNameCodes = new Set([2304, 2552, 2580, 2581, 2582, 2583, 2584, 2591, 2592, 2593, 2868]);

/**
 * How much a problem of types weighs in JavaScript. Most of them may be meant: such a plugin can run. A name that is nowhere is
 * an error as soon as it is reached, unless the source itself provides for that, by `typeof` or `globalThis`: then it is no
 * problem, and the answer `undefined`.
 */
export function severityInJavaScript(
  { code, message }: { readonly code: number; readonly message: string },
  source: string,
): 'error' | 'warning' | undefined {
  const name = missingNameCodes.has(code) ? missingName.exec(message)?.[1] : undefined;
  if (name === undefined) return 'warning';
  const providesForIt = [
    `typeof ${name}`,
    `typeof(${name}`,
    `globalThis.${name}`,
    `globalThis['${name}'`,
  ].some((use) => source.includes(use));
  return providesForIt ? undefined : 'error';
}
