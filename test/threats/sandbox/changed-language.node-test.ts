import { describe } from 'node:test';
import { running } from '../../service/plugin.ts';
import { startTarget } from './target.ts';
import type { Attack } from './target.ts';

const { testAttacks } = startTarget();

/** Logs, throws and catches, and returns a promise: all that the sandbox does for a plugin. */
const ordinary = `export async function run(input) {
  console.log("logged", { a: [1, "é"] }, 2, undefined);
  await null;
  if (input === "in") return "answered";
}`;
const asEver: Pick<readonly [string, readonly string[]], 0 | 1> = [
  'answered',
  ['logged {"a":[1,"é"]} 2 undefined'],
];

/** What a plugin does to the language before it runs, with what it then comes to. */
const harmless: Record<string, string> = {
  'every method of every prototype': `const { ownKeys, defineProperty } = Reflect;
    const keys = ownKeys(globalThis);
    for (let i = 0; i < keys.length; i++) {
      const owner = globalThis[keys[i]];
      if (typeof owner !== 'function' || !owner.prototype) continue;
      const names = ownKeys(owner.prototype);
      for (let j = 0; j < names.length; j++) try { defineProperty(owner.prototype, names[j], { value() { throw 1; } }); } catch {}
    }`,
  'every function of the globals': `const { ownKeys } = Reflect;
    for (const key of ownKeys(globalThis)) if (key !== 'console') try { delete globalThis[key]; } catch {}`,
  'getters of everything that a host might ask for': `for (const key of
      ['length', 'name', 'message', 'stack', 'then', 'run', 'value', 'get', 'set', 'log', 'error', 'code', 'default', 'cause', '0'])
      try { Object.defineProperty(Object.prototype, key, { get() { throw key; }, set() { throw key; } }); } catch {}`,
  'the conversions of the primitives': `for (const { prototype } of [String, Number, Boolean, Symbol, BigInt])
      for (const key of ['toString', 'valueOf', 'toJSON', Symbol.toPrimitive, Symbol.iterator])
        Object.defineProperty(prototype, key, { value() { throw 1; } });`,
  'then and the species of promises': `for (const key of ['then', 'catch', 'finally', 'constructor'])
      Object.defineProperty(Promise.prototype, key, { get() { throw 1; } });
    Object.defineProperty(Promise, Symbol.species, { get() { throw 1; } });
    Promise.resolve = Promise.reject = () => { throw 1; };`,
  'Function.prototype.call and apply': `Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1; };
    Reflect.apply = Reflect.construct = () => { throw 1; };`,
  'JSON, String and Reflect': 'globalThis.JSON = globalThis.String = globalThis.Reflect = undefined;',
  'the iteration of arrays': `Object.defineProperty(Object.getPrototypeOf([].values()), 'next', { value() { throw 1; } });
    Array.prototype[Symbol.iterator] = () => { throw 1; };`,
  'the prototype of the global object': `Object.setPrototypeOf(globalThis, new Proxy({}, { get() { throw 1; }, has: () => false }));`,
  'what is an error': `Object.defineProperty(Error, Symbol.hasInstance, { value: () => { throw 1; } });
    try { Object.defineProperty(Function.prototype, Symbol.hasInstance, { value: undefined }); } catch {}`,
  'the preparation of stacks': `Error.prepareStackTrace = () => { throw 1; }; Error.stackTraceLimit = -1;`,
  'what a queue of jobs does': 'globalThis.queueMicrotask = () => { throw 1; };',
  'whether objects can be changed': `for (const key of Reflect.ownKeys(globalThis)) try { Object.freeze(globalThis[key]); Object.freeze(globalThis[key].prototype); } catch {}
    Object.freeze(globalThis);`,
  'the methods of the console, by a proxy': `const { log } = console;
    globalThis.console = new Proxy({}, { get: () => new Proxy(log, { get() { throw 1; } }) });`,
};

describe('a plugin that changes the language harms only itself', () => {
  testAttacks(
    Object.fromEntries(
      Object.entries(harmless).map(([what, code]): [string, Attack] => [
        `a plugin that changes ${what} runs as usual`,
        [`{ ${code} }\n${ordinary}`, asEver[0], asEver[1]],
      ]),
    ),
  );
});

describe('what the sandbox asks of the plugin does not run its code', () => {
  testAttacks({
    'a text object in place of what a helper keeps is not used': [
      `const seen = []; globalThis.String = (value) => { seen.push(value); return { length: 1e9 }; };
      export function run() { console.log({ a: 1 }); return seen.join() + 'none'; }`,
      'none',
      ['{"a":1}'],
    ],
    'a setter of what the global object does not have is not called by the sandbox': [
      `const seen = [];
      for (const key of ['invoke', 'describe', 'log', 'reportError', 'failed', 'nullText', 'exports', 'module'])
        Object.defineProperty(Object.prototype, key, { set(value) { seen.push(key); } });
      export function run() { console.log('x'); return seen.join() + 'none'; }`,
      'none',
    ],
    "an error of the engine has the plugin's message, not its conversions": [
      `Object.defineProperty(Error.prototype, 'toString', { value: () => 'forged' });
      export function run() { null.x; }`,
      { error: 'plugin-error', message: /^forged\n/ },
    ],
    'a message of an error that counts how often it is read is read by nobody but once': [
      running(`let reads = 0; const error = new Error('');
      Object.defineProperty(error, 'message', { get() { return 'read ' + (reads += 1); } });
      throw error;`),
      { error: 'plugin-error', message: /^Error: read 1\b/ },
    ],
  });
});

const names = [
  'fs',
  'node:fs',
  'std',
  'os',
  'qjs:std',
  'qjs:os',
  'bjson',
  './other.js',
  '/etc/passwd',
  'file:///etc/passwd',
  'https://example.com/a.js',
  'data:text/javascript,export default 1',
  '<sandbox>',
  '<eval>',
  '',
  ' ',
  '.',
  'a\nb',
  'plugin.js\n',
  'plugin.js ',
  '\u2028',
  '\ud800',
  '../'.repeat(1000),
  'x'.repeat(100_000),
];

const refused = { error: 'plugin-error', message: /could not load module/ } as const;
const short = (name: string) =>
  JSON.stringify(name.length > 40 ? `${name.slice(0, 10)}… of ${name.length}` : name);

describe('a plugin that changes the language can still import no other module', () => {
  testAttacks(
    Object.fromEntries(
      names.flatMap((name): [string, Attack][] => {
        const text = JSON.stringify(name);
        return [
          [
            `nothing is imported from ${short(name)}`,
            [`import * as all from ${text};\n${running('return Object.keys(all).join();')}`, refused],
          ],
          [
            `nothing is imported from ${short(name)} while a plugin runs`,
            [running(`return import(${text}).then((all) => Object.keys(all).join());`), refused],
          ],
        ];
      }),
    ),
  );
});

describe('imports of the plugin itself', () => {
  testAttacks({
    'a plugin that imports itself, also by a name that NUL cuts, gets itself': [
      running(
        'return Promise.all(["plugin.js", "./plugin.js", "plugin.js\\0.txt"].map((name) => import(name))).then((all) => all.map((one) => one.run === run).join());',
      ),
      'true,true,true',
    ],
    'a name that NUL cuts is the name before it': [running('return import("std\\0plugin.js");'), refused],
    'a plugin that is its own import runs once': [
      'import * as self from "plugin.js"; let count = 0; count += 1; export const run = () => `${self.run === run} ${count}`;',
      'true 1',
    ],
    'nothing is exported again from elsewhere': ['export * from "fs"; export { run } from "fs";', refused],
    'nothing is imported as JSON': [
      `import all from "/proc/self/environ" with { type: "json" };\n${running('return JSON.stringify(all);')}`,
      { error: 'plugin-error' },
    ],
    'nothing is imported as text or bytes': [
      running(
        'return Promise.allSettled(["text", "bytes", "json"].map((type) => import("/etc/passwd", { with: { type } }))).then((all) => all.map(({ status }) => status).join());',
      ),
      'rejected,rejected,rejected',
    ],
    'the name of an import is asked for once': [
      running(
        'let asked = 0; return import({ toString() { asked += 1; return "x"; } }).catch(() => String(asked));',
      ),
      '1',
    ],
    'import.meta tells nothing': [
      running('return JSON.stringify([Object.keys(import.meta), Object.getPrototypeOf(import.meta)]);'),
      '[[],null]',
    ],
    'code of eval imports nothing': [
      running('return (0, eval)("import(\'fs\')").then(() => "in");'),
      refused,
    ],
    'code of a function imports nothing': [
      running('return Function("return import(\'fs\')")().then(() => "in");'),
      refused,
    ],
  });
});
