import { describe } from 'node:test';
import { runLimits } from '../../../service/src/sandbox/run-limits.ts';
import { running } from '../../service/plugin.ts';
import { startTarget } from './target.ts';
import type { Attack } from './target.ts';

const { testAttacks } = startTarget();

const notText = (kind: RegExp): Attack[1] => ({ error: 'plugin-error', message: kind });
const cannotBeShown = { error: 'plugin-error', message: /^\(a value that cannot be shown\)$/ } as const;

// What the host would have to ask the plugin's code about is not asked.
const returned: Record<string, Attack> = {
  'an object with a conversion to text': [
    running('return { toString: () => "in" };'),
    notText(/type object/),
  ],
  'an object with a conversion to a primitive': [
    running('return { [Symbol.toPrimitive]: () => "in" };'),
    notText(/type object/),
  ],
  'an object whose getters never end': [
    running('return { get toString() { for (;;); }, get then() { return undefined; } };'),
    notText(/type object/),
  ],
  'a text object': [running('return Object("in");'), notText(/type object/)],
  'a number': [running('return 5;'), notText(/type number/)],
  nothing: [running('return undefined;'), notText(/nothing/)],
  null: [running('return null;'), notText(/null/)],
  'an array': [running('return ["in"];'), notText(/an array/)],
  'a symbol': [running('return Symbol("in");'), notText(/type symbol/)],
  'a proxy of a text object': [running('return new Proxy(Object("in"), {});'), notText(/type object/)],
  'a proxy that is revoked': [
    running('const { proxy, revoke } = Proxy.revocable([], {}); revoke(); return proxy;'),
    notText(/returned/),
  ],
  'a proxy that throws at everything': [
    running('return new Proxy({}, new Proxy({}, { get() { throw new Error("asked"); } }));'),
    notText(/type object/),
  ],
  'a thenable': [running('return { then(resolve) { resolve("in"); } };'), notText(/type object/)],
  'a function': [running('return () => "in";'), notText(/type function/)],
  'a bigint': [running('return 1n;'), notText(/type bigint/)],
  'a generator': ['export function* run() { yield "in"; }', notText(/type object/)],
  'a class in place of a function': ['export class run {}', notText(/new/)],
  'a bound function': [
    'const all = function () { return this.text; }; export const run = all.bind({ text: "mine" });',
    'mine',
  ],
  'a proxy in place of a function': [
    'export const run = new Proxy(() => {}, { apply: () => "mine" });',
    'mine',
  ],
  'a proxy that throws in place of a function': [
    'export const run = new Proxy(() => {}, { apply() { throw new Error("mine"); } });',
    notText(/^Error: mine/),
  ],
  'a getter in place of a function': [
    'const all = { get run() { return () => "in"; } }; export { all as run };',
    notText(/exports no function/),
  ],
  'a promise that has its own then': [
    running(
      'const promise = Promise.resolve("in"); promise.then = (resolve) => resolve("other"); return promise;',
    ),
    'in',
  ],
  'a promise of a class of its own': [
    running(
      'class Mine extends Promise { then() { throw 1; } } return new Mine((resolve) => resolve("in"));',
    ),
    'in',
  ],
  'a promise of a thenable that resolves twice': [
    'export const run = async () => ({ then(resolve, reject) { resolve("in"); resolve("other"); reject("other"); } });',
    'in',
  ],
  'a promise of a thenable that throws after it resolved': [
    'export const run = async () => ({ then(resolve) { resolve("in"); throw 1; } });',
    'in',
  ],
  'a promise of itself': [
    running(
      'let resolve; const promise = new Promise((given) => { resolve = given; }); resolve(promise); return promise;',
    ),
    notText(/TypeError/),
  ],
  'a promise of no text': [
    'export const run = async () => ({ toString: () => "in" });',
    notText(/type object/),
  ],
  'a promise that nothing settles': [
    running('return new Promise(() => {});'),
    notText(/nothing is left to settle/),
  ],
  'a promise that waits for the top level': [
    'await new Promise(() => {}); export const run = () => "in";',
    notText(/nothing is left to settle/),
  ],
  'a promise whose prototype is gone': [
    running('return Object.setPrototypeOf(Promise.resolve("in"), null);'),
    'in',
  ],
};

const thrown: Record<string, Attack> = {
  'an error whose texts are getters that throw': [
    running(`const error = new Error('');
      for (const key of ['name', 'message', 'stack', 'toString']) Object.defineProperty(error, key, { get() { throw error; } });
      throw error;`),
    cannotBeShown,
  ],
  'an error whose stack is no text': [
    running(
      'const error = new Error("mine"); Object.defineProperty(error, "stack", { value: { toString: () => "    at forged (plugin.js:1:1)" } }); throw error;',
    ),
    { error: 'plugin-error', message: /^Error: mine\n {4}at forged \(plugin\.js:1:1\)$/ },
  ],
  'an error whose stack names other files': [
    running(
      'const error = new Error("mine"); error.stack = "at root (/etc/passwd:1:1)\\n at file:///service.ts:1:1"; throw error;',
    ),
    { error: 'plugin-error', message: /^Error: mine$/ },
  ],
  'an error whose stack has impossible places': [
    running(
      'const error = new Error("mine"); error.stack = ["1e9:1", "99999999999999999999:99999999999999999999", "0:0", "1:-1"].map((at) => "plugin.js:" + at).join("\\n"); throw error;',
    ),
    { error: 'plugin-error', message: /^Error: mine\nplugin\.js:\d+:\d+\nplugin\.js:0:\d+$/ },
  ],
  'an error with a stack of megabytes': [
    running('const error = new Error("mine"); error.stack = "plugin.js:1:1\\n".repeat(1e6); throw error;'),
    { error: 'plugin-error', message: /^Error: mine\n(?:plugin\.js:1:1\n)+.{0,20} … \(cut here\)$/ },
  ],
  'a text of megabytes with half of a pair': [
    running('throw "\\ud800" + "x".repeat(8e6);'),
    { error: 'plugin-error', message: /^\ud800x+ … \(cut here\)$/ },
  ],
  'an error whose class answers what is an error': [
    running(
      'Object.defineProperty(Error, Symbol.hasInstance, { value() { throw "other"; } }); throw new Error("mine");',
    ),
    { error: 'plugin-error', message: /^Error: mine\n/ },
  ],
  'an object whose prototype throws': [
    running('throw new Proxy({}, { getPrototypeOf() { throw "other"; } });'),
    cannotBeShown,
  ],
  'an object that converts to itself': [
    running('const mine = { toString: () => String(mine) }; throw Object.assign(() => {}, mine);'),
    { error: ['plugin-error', 'stack-limit'] },
  ],
  'an object that throws when it is written as JSON': [
    running('throw { toJSON() { throw "other"; } };'),
    cannotBeShown,
  ],
  'an object in a circle': [running('const mine = {}; mine.mine = mine; throw mine;'), cannotBeShown],
  'an object without a prototype': [
    running('throw Object.create(null);'),
    { error: 'plugin-error', message: /^\{\}$/ },
  ],
  null: [running('throw null;'), { error: 'plugin-error' }],
  nothing: [running('throw undefined;'), { error: 'plugin-error' }],
  'a symbol': [running('throw Symbol("mine");'), { error: 'plugin-error', message: /^Symbol\(mine\)$/ }],
  'a promise that is rejected': [
    running('throw Promise.reject("mine");'),
    { error: 'plugin-error', message: /^\{\}$/ },
  ],
  'a text like the end of a run': [
    running('throw \'{"code":"memory-limit","message":"forged"}\';'),
    { error: 'plugin-error', message: /^\{"code":"memory-limit","message":"forged"\}$/ },
  ],
  'a text about memory': [
    running('throw new Error("The warehouse is out of memory");'),
    { error: 'plugin-error', message: /^Error: The warehouse is out of memory/ },
  ],
  'terminal sequences': [
    running('throw "\\u001b[2Jforged\\r\\nforged";'),
    // eslint-disable-next-line no-control-regex
    { error: 'plugin-error', message: /^\u001b\[2Jforged\r\nforged$/ },
  ],
  'an error in a job': [
    running('queueMicrotask(() => { throw new Error("mine"); }); return Promise.resolve("in");'),
    { error: 'plugin-error', message: /Error: mine/ },
  ],
  'a stack that a hook prepares': [
    running('Error.prepareStackTrace = () => { throw "other"; }; throw new Error("mine");'),
    { error: 'plugin-error', message: /^(?:Error: mine|other)/ },
  ],
  'a stack that a hook prepares by another error': [
    running('Error.prepareStackTrace = () => new Error("next").stack; throw new Error("mine");'),
    { error: ['plugin-error', 'stack-limit'] },
  ],
};

const logged: Record<string, Attack> = {
  'an object that throws when it is written as JSON': [
    running('console.log({ toJSON() { throw 1; } }); return input;'),
    'in',
    ['(a value that cannot be shown)'],
  ],
  'an object in a circle': [
    running('const mine = {}; mine.mine = mine; console.log(mine); return input;'),
    'in',
    ['(a value that cannot be shown)'],
  ],
  'a proxy that throws at everything': [
    running('console.log(new Proxy({}, new Proxy({}, { get() { throw 1; } }))); return input;'),
    'in',
    ['(a value that cannot be shown)'],
  ],
  'an object that logs when it is logged': [
    running('console.log({ toJSON() { console.log("inner"); return "outer"; } }); return input;'),
    'in',
    ['inner', '"outer"'],
  ],
  'an object that logs itself': [
    running('const mine = { toJSON() { console.log(mine); } }; console.log(mine); return input;'),
    'in',
  ],
  'a bigint in an object, a symbol and a function': [
    running('console.log({ a: 1n }, Symbol("s"), () => 1, undefined, null, -0); return input;'),
    'in',
    ['{"a":"1n"} Symbol(s) () => 1 undefined null 0'],
  ],
  'more arguments than fit': [
    running('console.log.apply(null, { length: 1e9 }); return input;'),
    { error: 'plugin-error', message: /too many arguments/i },
  ],
  'arguments by a changed iterator': [
    running(
      'Array.prototype[Symbol.iterator] = function* () { yield "forged"; }; console.log("a", "b"); return input;',
    ),
    'in',
    ['a b'],
  ],
  'by a function that was kept from another method': [
    running('const { warn } = console; console = { log: null }; warn.call(undefined, "kept"); return input;'),
    'in',
    ['[warn] kept'],
  ],
};

const frames = [
  '<null>',
  '=in',
  '~"in"',
  '~',
  '=',
  '',
  '\n',
  '{"result":"forged"}',
  '{"code":"time-limit"}',
  'ready',
  '\0',
  '\ufeffin',
  '\x04\x07\0\0\0=forged',
  '\x02\0\0\0\0',
  '\x05\x02\0\0\0{}',
  '\xff'.repeat(5),
  '\ud800',
  '\udc00\ud800',
  '😀\ud83d',
  '\u2028\u2029\u0085',
];

const echo = running('console.log(input); console.log(input + input); return input;');
const echoes = frames.map((text): [string, Attack] => [
  JSON.stringify(text),
  [echo, text, [text, text + text], text],
]);

const named = (nameOf: (what: string) => string, attacks: Readonly<Record<string, Attack>>) =>
  Object.fromEntries(Object.entries(attacks).map(([what, attack]) => [nameOf(what), attack]));

describe('a value that a run returns is text or an error', () => {
  testAttacks(named((what) => `of ${what}, only text or a promise of it becomes an answer`, returned));
});
describe('a value that a run throws is reported as an error', () => {
  testAttacks(named((what) => `${what} is told as a text, and the runner goes on`, thrown));
});
describe('a value that a run logs is reported as text', () => {
  testAttacks(named((what) => `${what} is logged as a text`, logged));
});
describe("a text that looks like the sandbox's own is the plugin's", () => {
  testAttacks(named((what) => `${what} comes out as it is, answered and logged`, Object.fromEntries(echoes)));
});

describe('the longest texts are answered or refused', () => {
  testAttacks({
    'the longest answer of characters that take the most room goes through': [
      running(`return "\\ud800" + "\\0".repeat(${runLimits.output - 3});`),
      `\ud800${'\0'.repeat(runLimits.output - 3)}`,
    ],
    'the longest logs of characters that take the most room go through': [
      running(`console.log("\\ud800" + "\\0".repeat(${runLimits.logs - 3})); return input;`),
      'in',
      [`\ud800${'\0'.repeat(runLimits.logs - 3)}`],
    ],
  });
});
