import { describe } from 'node:test';
import { running } from '../../service/plugin.ts';
import { startTarget } from './target.ts';
import type { Attack, Expected } from './target.ts';

const { testAttacks } = startTarget();

const overTime = { error: 'time-limit' } as const;
const overMemory = { error: 'memory-limit' } as const;
const overStack = { error: 'stack-limit' } as const;

/** Ways in which one function calls another by way of the engine's own code. */
const calls: Record<string, string> = {
  'a call': 'f()',
  'an iteration of an array': '[1].map(f)',
  'a conversion to JSON': 'JSON.stringify({ toJSON: f })',
  'the reading of JSON': 'JSON.parse("[1]", f)',
  'a replacement': '"a".replace(/a/, f)',
  'Reflect.apply': 'Reflect.apply(f, null, [])',
  'a bound function': 'f.bind().call()',
  'a proxy': 'new Proxy(f, {})()',
  'the trap of a proxy': 'new Proxy({}, { get: f }).x',
  eval: 'eval("f()")',
  'a function of text': 'Function("f", "f()")(f)',
  'a sort': '[2, 1].sort(f)',
  'a sort of typed numbers': 'new Uint8Array(2).sort(f)',
  'a conversion to text': '`${{ toString: f }}`',
  'a constructor': 'Reflect.construct(class { constructor() { f(); } }, [])',
  'a generator': '(function* () { yield f(); })().next()',
  'an iterator': '[...{ *[Symbol.iterator]() { f(); } }]',
  'a getter': '({ get x() { return f(); } }).x',
  'a log': 'console.log({ toJSON: f })',
  'a map': 'new Map([[1, 1]]).forEach(f)',
  'an iterator of iterators': '[1].values().map(f).next()',
};

// That a plugin can catch the error is what tells the engine's limit from that of the machine under it.
describe('endless calls meet a limit', () => {
  testAttacks(
    Object.fromEntries(
      Object.entries(calls).map(([how, call]): [string, Attack] => [
        `endless calls by ${how} end at the engine's limit, in the same place each time`,
        [
          running(`const dive = () => {
            let depth = 0;
            let error;
            const f = () => { depth += 1; try { ${call}; } catch (thrown) { error ??= thrown; throw thrown; } return ''; };
            try { f(); } catch {}
            return depth + ' ' + error?.name;
          };
          const first = dive();
          return first === dive() ? first.replace(/^\\d{3,4} /, '') : first + dive();`),
          /^(?:RangeError|SyntaxError|undefined)$/,
        ],
      ]),
    ),
  );
});

const recursions: Record<string, Attack> = {
  'nested arrays in JSON': [
    running('return String(JSON.parse("[".repeat(1e6) + "]".repeat(1e6)).length);'),
    overStack,
  ],
  'nested objects to JSON': [
    running('let all = {}; for (let i = 0; i < 3e4; i++) all = { all }; return JSON.stringify(all);'),
    { error: ['stack-limit', 'time-limit'] },
  ],
  'nested arrays to text': [
    running('let all = []; for (let i = 0; i < 1e5; i++) all = [all]; return String(all);'),
    overStack,
  ],
  'nested arrays that are flattened': [
    running(
      'let all = []; for (let i = 0; i < 1e5; i++) all = [all]; return String(all.flat(Infinity).length);',
    ),
    overStack,
  ],
  'nested brackets of source': [
    running('return String(eval("(".repeat(1e5) + ")".repeat(1e5)));'),
    overStack,
  ],
  'nested templates of source': [
    running('return eval("`${".repeat(5e4) + "1" + "}`".repeat(5e4));'),
    { error: ['stack-limit', 'plugin-error'] },
  ],
  'nested blocks of source': [running('return String(eval("{".repeat(1e5) + "}".repeat(1e5)));'), overStack],
  'a chain of operators of source': [running('return String(eval("1" + "+1".repeat(1e5)));'), '100001'],
  'a chain of negations of source': [running('return String(eval("!".repeat(1e5) + "1"));'), overStack],
  'a chain of arrows of source': [running('return typeof eval("a=>".repeat(1e5) + "1");'), overStack],
  'a chain of prototypes': [
    running(
      'let one = {}; for (let i = 0; i < 1e5; i++) one = Object.create(one); return String(one.missing);',
    ),
    'undefined',
  ],
  'a chain of proxies': [
    running(
      'let one = {}; for (let i = 0; i < 1e5; i++) one = new Proxy(one, {}); return String(one.missing);',
    ),
    overStack,
  ],
  'a chain of bound functions': [
    running('let one = () => "in"; for (let i = 0; i < 3e3; i++) one = one.bind(); return one();'),
    overStack,
  ],
  'a chain of promises': [
    'export const run = async () => { let one = Promise.resolve("end"); for (let i = 0; i < 1e4; i++) { const last = one; one = (async () => last)(); } return one; };',
    'end',
  ],
  'a chain of generators': [
    running(
      'function* dive(n) { if (n) yield* dive(n - 1); yield n; } return String([...dive(5000)].length);',
    ),
    overStack,
  ],
  'a chain of texts': [
    running(
      'let text = ""; for (let i = 0; i < 5e3; i++) text = "a" + text + "b"; return String(text.length) + text.charAt(4999);',
    ),
    '10000a',
  ],
  'nested groups of an expression': [
    running('return String(new RegExp("(".repeat(1e5) + ")".repeat(1e5)));'),
    { error: ['stack-limit', 'plugin-error'] },
  ],
  'nested classes of an expression': [
    running('return String(new RegExp("[".repeat(1e4) + "]".repeat(1e4), "v"));'),
    { error: ['stack-limit', 'plugin-error'] },
  ],
};

const sizes: Record<string, Attack> = {
  'an array of all lengths': [running('return String(new Array(2 ** 32 - 1).length);'), '4294967295'],
  'an array that is too long': [
    running('return String(new Array(2 ** 32));'),
    { error: 'plugin-error', message: /^RangeError/ },
  ],
  'an array that is filled by its length': [
    running('const all = []; all.length = 2 ** 32 - 1; return String(all.fill(1).length);'),
    { error: ['memory-limit', 'time-limit', 'plugin-error'] },
  ],
  'an array of an endless iterator': [
    running(
      'return String([...{ [Symbol.iterator]: () => ({ next: () => ({ value: "x".repeat(1e4) }) }) }].length);',
    ),
    overMemory,
  ],
  'an object of an endless length': [
    running('return String(Array.from({ length: 2 ** 32 }).length);'),
    { error: 'plugin-error', message: /^RangeError/ },
  ],
  'arguments of an endless length': [
    running('return String(Math.max.apply(null, { length: 2 ** 32 - 1 }));'),
    { error: 'plugin-error', message: /RangeError/ },
  ],
  'a million arguments': [
    running('return String(Math.max(...new Array(1e6).fill(1)));'),
    { error: 'plugin-error', message: /RangeError/ },
  ],
  'arrays that say that they are longer': [
    running(
      'const one = { length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true }; return String([].concat(one, one));',
    ),
    overTime,
  ],
  'a joined array of texts': [
    running('return String(new Array(1e5).join("x".repeat(1e5)).length);'),
    overMemory,
  ],
  'a text of the longest length': [running('return String("x".repeat(2 ** 30 - 1).length);'), overMemory],
  'a text that is too long': [
    running('return String("x".repeat(2 ** 30).length);'),
    { error: 'plugin-error', message: /^RangeError/ },
  ],
  'a text that is filled up': [running('return String("x".padEnd(2 ** 30 - 1, "yz").length);'), overMemory],
  'texts that are replaced by longer ones': [
    running('let text = "aa"; for (;;) text = text.replaceAll("a", "aaaaaaaa");'),
    { error: ['memory-limit', 'time-limit'] },
  ],
  'a text that is normalized': [
    running('return String("\\ufdfa".repeat(1e6).normalize("NFKD").length);'),
    { error: ['memory-limit', 'time-limit', 'plugin-error'] },
  ],
  'a text that is made from numbers': [
    running('return String(String.fromCharCode(...new Array(60000).fill(65)).length);'),
    '60000',
  ],
  'a large bigint': [
    running('return String(2n ** 10000000n);'),
    { error: 'plugin-error', message: /^RangeError/ },
  ],
  'a bigint that is shifted': [
    running('return String(1n << 2n ** 62n);'),
    { error: 'plugin-error', message: /^RangeError/ },
  ],
  'a bigint of all bits': [
    running('return String(BigInt.asUintN(2 ** 53 - 1, -1n));'),
    { error: ['plugin-error', 'memory-limit'] },
  ],
  'a bigint of a long text': [
    running('return String(BigInt("9".repeat(2e4)).toString(36).length);'),
    '12851',
  ],
  'bytes past the end': [
    running('return String(new ArrayBuffer(2 ** 53 - 1));'),
    { error: ['memory-limit', 'plugin-error'] },
  ],
  'bytes of a length that wraps': [
    running('return String(new Float64Array(2 ** 29 + 1).length);'),
    { error: ['memory-limit', 'plugin-error'] },
  ],
  'bytes that can grow to more than there is': [
    running(
      'const all = new ArrayBuffer(0, { maxByteLength: 2 ** 31 - 1 }); all.resize(2 ** 30); return String(all.byteLength);',
    ),
    overMemory,
  ],
  'shared bytes': [
    running('return String(new SharedArrayBuffer(2 ** 31 - 1).byteLength);'),
    { error: ['memory-limit', 'plugin-error'] },
  ],
  'an expression with a large count': [
    running('return String(/(?:a{0,100000}){0,100000}/.test("a".repeat(30)));'),
    /true|in/,
  ],
  'an expression of many groups': [
    running('return String(new RegExp("(a)".repeat(300)).exec("a".repeat(300))?.length);'),
    { error: 'plugin-error', message: /SyntaxError/ },
  ],
  'an expression of many alternatives': [
    running('return String(new RegExp(Array.from({ length: 2e4 }, (_, i) => "a" + i).join("|")).test("b"));'),
    'false',
  ],
  'an expression that looks back': [
    running('return String(/(?<=(?:a|a)*b)c/.test("a".repeat(24) + "c"));'),
    'false',
  ],
  'an expression that backtracks': [
    running('return String(/^(?:a|a)*$/.test("a".repeat(40) + "b"));'),
    overTime,
  ],
  'a date of extremes': [
    running(
      'return [new Date(8.64e15).toISOString(), new Date(8.64e15 + 1).getTime(), new Date(2 ** 53, -(2 ** 53)).getTime()].join();',
    ),
    '+275760-09-13T00:00:00.000Z,NaN,NaN',
  ],
  'numbers in long notations': [
    running(
      'return [(1e21).toFixed(100).length, (5e-324).toPrecision(100).length, (0.1).toString(2).length, Number("1".repeat(1e5)), (1e308).toString(36).length].join();',
    ),
    /^\d+,\d+,\d+,Infinity,\d+$/,
  ],
  'seventy thousand variables': [
    running(
      'return String(Function(Array.from({ length: 7e4 }, (_, i) => "let a" + i).join(";") + ";return 1")());',
    ),
    overTime,
  ],
  'seventy thousand parameters': [
    running('return String(Function(...Array.from({ length: 7e4 }, (_, i) => "a" + i), "return a69999")());'),
    { error: ['plugin-error', 'memory-limit'] },
  ],
  'a hundred thousand properties': [
    running(
      'const all = {}; for (let i = 0; i < 1e5; i++) all["k" + i] = i; return String(Object.keys(all).length);',
    ),
    '100000',
  ],
  'a loop inside the engine over nothing': [
    running('return String(Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1));'),
    overTime,
  ],
};

const limits = (what: string, attacks: Readonly<Record<string, Attack | readonly [string, Expected]>>) =>
  Object.fromEntries(Object.entries(attacks).map(([name, attack]) => [`${name}: ${what}`, attack as Attack]));

describe('endless structures meet a limit', () => {
  testAttacks(limits('the run answers, or ends at the limit of depth', recursions));
});
describe('endless sizes meet a limit', () => {
  testAttacks(limits('the run answers, or ends at a limit', sizes));
});
