import { describe } from 'node:test';
import { running } from '../../service/plugin.ts';
import { type Attack, startTarget } from './target.ts';

const { testAttacks } = startTarget();

/** What code would see of the runner's own JavaScript, were it to run there. */
const host = '[typeof process, typeof require, typeof WebAssembly, typeof Buffer, typeof global].join()';
const nothing = Array(5).fill('undefined').join();
const inText = JSON.stringify(`return ${host}`);

/** Makes code that takes the functions of the frames that are on the stack, innermost first. */
const functionsOnStack = (body: string) => `
  const prepare = Error.prepareStackTrace;
  Error.prepareStackTrace = (error, frames) => frames;
  const found = new Error('').stack.map((frame) => frame.getFunction());
  Error.prepareStackTrace = prepare;
  ${body}`;

const constructors: Record<string, string> = {
  'the function constructor': `return Function(${inText})();`,
  'the constructor of a function of the globals': `return Math.max.constructor(${inText})();`,
  'the constructor of the console': `return console.log.constructor(${inText})();`,
  "the constructor of the input's constructor": `return input.constructor.constructor(${inText})();`,
  'the constructor of a bound function': `return console.log.bind().constructor(${inText})();`,
  'the constructor behind a proxy': `return new Proxy(console.log, {}).constructor(${inText})();`,
  'Reflect.construct with another target': `return Reflect.construct(Function, [${inText}], class {})();`,
  'indirect eval': `return (0, eval)(${JSON.stringify(host)});`,
  'the this of sloppy code': `return Function("with (this) return ${host.replaceAll('"', "'")}")();`,
  'a scope that has every name': `return Function("scope", "with (scope) return typeof process")(
    new Proxy({}, { has: () => true, get: (_, key) => key === Symbol.unscopables ? undefined : globalThis[key] })) + ",undefined".repeat(4);`,
  'the constructor of generators': `return (function* () {}).constructor(${inText})().next().value;`,
  'the constructor of asynchronous functions': `return (async () => {}).constructor(${inText})();`,
  'the constructor of asynchronous generators': `return (async function* () {}).constructor(${inText})().next().then(({ value }) => value);`,
  'the constructor of an error of the engine': `try { null.x; } catch (error) { return error.constructor.constructor(${inText})(); }`,
  'the constructor of an error of a deep stack': `const dive = () => dive();
    try { dive(); } catch (error) { return error.constructor.constructor(${inText})(); }`,
  'the constructor of an error for want of memory': `try { "x".repeat(2 ** 29).repeat(1); } catch (error) {
    return error.constructor.constructor(${inText})(); }`,
  'the constructor of an error of an import': `return import("node:fs").catch((error) => error.constructor.constructor(${inText})());`,
  'the constructor of a function of crypto': `return crypto.randomUUID.constructor(${inText})();`,
  'the constructor of a formatter': `return new Intl.NumberFormat('de').format.constructor(${inText})();`,
  'the constructor of a URL and its query': `return new URL('a:b').searchParams.get.constructor.call(null, ${inText})();`,
  'the constructor of a copied error': `return structuredClone(new Error('x')).constructor.constructor(${inText})();`,
  'the constructor of a frame of the stack': functionsOnStack(
    `return found[0].constructor.constructor(${inText})();`,
  ),
  "a function that the sandbox's helpers have on the stack": `let answer;
    console.log({ toJSON() { ${functionsOnStack(`answer = found.at(-3).constructor(${inText})();`)} } });
    return answer;`,
  'the constructor of a job': `return new Promise((resolve) => queueMicrotask(function () { resolve(this?.process ?? Function(${inText})()); }));`,
  'the constructor that a species names': `class Mine extends Promise { static get [Symbol.species]() { return console.log.constructor; } }
    try { Mine.resolve().then(); } catch {} return ${host};`,
};

describe('code that a run creates reaches nothing of the machine', () => {
  testAttacks(
    Object.fromEntries(
      Object.entries(constructors).map(([name, body]): [string, Attack] => [
        `${name} makes code that sees nothing of the runner`,
        [running(body), nothing],
      ]),
    ),
  );
});

describe('what a run can reach of the sandbox', () => {
  testAttacks({
    'there is one realm: all that the engine throws and makes is of it': [
      running(`const thrown = [];
      const dive = () => dive();
      for (const fail of [() => null.x, dive, () => eval('('), () => new Array(-1), () => decodeURI('%'), () => 1n + 1])
        try { fail(); } catch (error) { thrown.push(error instanceof Error && Object.getPrototypeOf(error.constructor.prototype) === Error.prototype); }
      return thrown.join();`),
      'true,true,true,true,true,true',
    ],
    'a stack holds nothing of the runner': [
      running(`Error.stackTraceLimit = Infinity; let stack = '';
      console.log({ toJSON() { stack = new Error('x').stack; return ''; } });
      return stack;`),
      /^(?: +at (?:\w+ )?\((?:plugin\.js:\d+:\d+|<sandbox>:\d+:\d+|native)\)\n?)+$/,
    ],
    'a stack of a job holds nothing of the runner': [
      running('return Promise.resolve().then(() => new Error("x").stack);'),
      /^ +at <anonymous> \(plugin\.js:1:\d+\)\n?$/,
    ],
    'functions of Intl that a stack gives away ask the host for nothing but formats': [
      running(`let found = [];
      const spy = { get style() { ${functionsOnStack('globalThis.taken = found;')} return undefined; },
        toString() { return 'format'; } };
      new Intl.NumberFormat('de', spy);
      (1).toLocaleString('de', spy);
      for (const take of globalThis.taken.filter((one) => one && !['run', 'invoke', 'get style'].includes(one.name))) for (const args of [[], [spy, spy], ['check', 'Object', spy], [{ toString() { throw 1; } }]])
        try { found.push(String(take(...args))); } catch (error) { found.push(error.name); }
      return found.some((one) => /native|process|object Object/.test(one)) ? found.join() : 'nothing';`),
      'nothing',
    ],
    'keys that nothing was imported into are refused': [
      running(`const forged = Object.create(CryptoKey.prototype);
      return crypto.subtle.sign('HMAC', forged, new Uint8Array(1)).catch((error) => error.name);`),
      'TypeError',
    ],
    'the callers of functions are not told': [
      running(`const told = [];
      for (const key of ['caller', 'arguments']) try { told.push(run[key]); } catch (error) { told.push(error.name); }
      try { told.push(Function('return arguments.callee.caller')()); } catch (error) { told.push(error.name); }
      return told.map(String).join();`),
      'TypeError,TypeError,undefined',
    ],
    "the helpers' functions that a stack gives away serve nobody but the run itself": [
      running(`let names;
      console.log({ toJSON() { ${functionsOnStack('names = found.map(({ name }) => name).join();')} return 'logged'; } });
      return names;`),
      'toJSON,stringify,show,write,run,invoke',
      ['"logged"'],
    ],
    'a helper that is called from outside its place ends the run with what it was told': [
      running(`class Mine extends Error { get stack() {
        ${functionsOnStack('const describe = found.find(({ name }) => name === "describe"); describe("forged");')}
        return ''; } }
      throw new Mine('own');`),
      { error: 'plugin-error', message: /^Error: own$/ },
    ],
    'a helper that calls the plugin again does what a call does': [
      running(`${functionsOnStack('const invoke = found.at(-1);')}
      return input === 'again' ? input : invoke(run, 'again') + String(invoke(() => { throw 'forged'; }));`),
      { error: 'plugin-error', message: /^forged$/ },
    ],
    'the global object has nothing but the language, and a console': [
      running(
        `return Reflect.ownKeys(globalThis).filter((key) => typeof key !== 'string' || /^[a-z]/.test(key)).map(String).join();`,
      ),
      'parseInt,parseFloat,isNaN,isFinite,queueMicrotask,decodeURI,decodeURIComponent,encodeURI,encodeURIComponent,escape,unescape,undefined,eval,globalThis,btoa,atob,performance,crypto,structuredClone,console,Symbol(Symbol.toStringTag)',
    ],
  });
});

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
  'Intl, crypto and the classes of the web': `for (const name of ['Intl', 'crypto', 'URL', 'URLSearchParams', 'Headers', 'TextDecoder', 'TextEncoder', 'structuredClone'])
      Object.defineProperty(globalThis, name, { get() { throw name; } });`,
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

const refused = { error: 'plugin-error', message: /There is no library/ } as const;
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
    'a plugin does not import itself, also by a name that NUL cuts': [
      running(
        'return Promise.allSettled(["plugin.js", "./plugin.js", "plugin.js\\0.txt"].map((name) => import(name))).then((all) => all.map(({ status }) => status).join());',
      ),
      'rejected,rejected,rejected',
    ],
    'a name that NUL cuts is the name before it': [running('return import("std\\0plugin.js");'), refused],
    'a plugin is not its own import': [
      'import * as self from "plugin.js"; export { run } from "plugin.js";',
      refused,
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
