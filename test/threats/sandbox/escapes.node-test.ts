import { describe } from 'node:test';
import { running } from '../../service/plugin.ts';
import { startTarget } from './target.ts';
import type { Attack } from './target.ts';

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
      'parseInt,parseFloat,isNaN,isFinite,queueMicrotask,decodeURI,decodeURIComponent,encodeURI,encodeURIComponent,escape,unescape,undefined,eval,globalThis,btoa,atob,performance,console,Symbol(Symbol.toStringTag)',
    ],
  });
});
