import { describe } from 'node:test';
import { running } from '../../service/plugin.ts';
import { startTarget } from './target.ts';
import type { Attack } from './target.ts';

const { testAttacks } = startTarget();

/*
 * What has been a fault of engines before: code that is called in the midst of an operation, and changes what is
 * operated on. A fault could damage memory, which is why the runs of others after it are looked at as well.
 */

const changing: Record<string, [body: string, expected: Attack[1]]> = {
  'a buffer is moved away while it is sorted': [
    `const bytes = new Uint8Array(1000).map((_, i) => i * 7); let calls = 0; let moved;
     bytes.sort((a, b) => { if ((calls += 1) === 5) moved = bytes.buffer.transfer(10); return a - b; });
     return [bytes.length, moved.byteLength].join();`,
    '0,10',
  ],
  'a buffer shrinks while it is sorted': [
    `const buffer = new ArrayBuffer(1000, { maxByteLength: 1000 }); const bytes = new Uint8Array(buffer);
     bytes.sort(() => { buffer.resize(1); return 1; }); return String(bytes.length);`,
    '1',
  ],
  'a buffer shrinks while it is filled': [
    `const buffer = new ArrayBuffer(1000, { maxByteLength: 1000 }); const bytes = new Uint8Array(buffer);
     try { bytes.fill({ valueOf() { buffer.resize(2); return 7; } }); } catch (error) { return error.name; }
     return bytes.join();`,
    /^(?:7,7|TypeError)$/,
  ],
  'a buffer is moved away while it is filled': [
    `const bytes = new Float64Array(1000);
     try { bytes.fill(1, { valueOf() { bytes.buffer.transfer(); return 0; } }); } catch (error) { return error.name; }
     return String(bytes.length);`,
    /^(?:0|TypeError)$/,
  ],
  'a buffer is moved away while it is written': [
    `const view = new DataView(new ArrayBuffer(8));
     try { view.setFloat64(0, { valueOf() { view.buffer.transfer(); return 1; } }); } catch (error) { return error.name; }
     return 'written';`,
    'TypeError',
  ],
  'a buffer shrinks while it is copied within': [
    `const buffer = new ArrayBuffer(4096, { maxByteLength: 4096 }); const bytes = new Uint8Array(buffer);
     bytes.copyWithin({ valueOf() { buffer.resize(16); return 0; } }, 8, 4000); return String(bytes.length);`,
    '16',
  ],
  'a buffer shrinks while it is sliced': [
    `const buffer = new ArrayBuffer(4096, { maxByteLength: 4096 }); const bytes = new Uint8Array(buffer).fill(1);
     const slice = bytes.slice(0, { valueOf() { buffer.resize(16); return 4096; } }); return slice.length + ',' + slice.subarray(16).join('').replace(/0/g, '');`,
    /^\d+,$/,
  ],
  'a buffer is moved away while another is set from it': [
    `const from = new Uint8Array(100).fill(1); const to = new Uint8Array(100);
     try { to.set({ length: 100, get 0() { to.buffer.transfer(); return 1; } }); } catch (error) { return error.name; }
     return String(to.length);`,
    '0',
  ],
  'a class of its own makes the bytes that a slice is put into too short': [
    `class Short extends Uint8Array { static get [Symbol.species]() { return function () { return new Uint8Array(1); }; } }
     try { return String(new Short(100).slice(0, 100).length); } catch (error) { return error.name; }`,
    'TypeError',
  ],
  'bytes overlap the bytes that they are set from': [
    `const bytes = new Uint8Array(16).map((_, i) => i); bytes.set(bytes.subarray(0, 12), 4); return bytes.join();`,
    '0,1,2,3,0,1,2,3,4,5,6,7,8,9,10,11',
  ],
  'bytes are read and written beside the buffer': [
    `const view = new DataView(new ArrayBuffer(8), 4); const errors = [];
     for (const at of [-1, 4, 5, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 - 1, Infinity, NaN, -0])
       for (const method of ['getInt8', 'getFloat64', 'getBigInt64', 'setInt8', 'setFloat64'])
         try { view[method](at, 1); errors.push('done'); } catch (error) { errors.push(error.name); }
     return [...new Set(errors)].sort().join();`,
    /^RangeError(?:,SyntaxError)?(?:,TypeError)?,done$/,
  ],
  'elements beside the array are read and written': [
    `const numbers = new Int32Array(4); const found = [];
     for (const key of [-1, 4, 2 ** 30, 2 ** 31, 2 ** 32, 2 ** 32 + 1, '-0', 1.5]) { numbers[key] = 7; found.push(numbers[key]); }
     return found.join() + numbers.join();`,
    ',,,,,,,0,0,0,0',
  ],
  'a view is longer than a buffer that shrank': [
    `const buffer = new ArrayBuffer(64, { maxByteLength: 64 }); const whole = new Uint8Array(buffer); const fixed = new Uint8Array(buffer, 8, 32); const view = new DataView(buffer, 8);
     buffer.resize(4); const found = [whole.length, fixed.length, fixed[0], whole[5]];
     try { found.push(view.getInt8(0)); } catch (error) { found.push(error.name); }
     buffer.resize(64); return [...found, fixed.length, fixed[0], whole.join('')].map(String).join();`,
    `4,0,undefined,undefined,TypeError,32,0,${'0'.repeat(64)}`,
  ],
  'a proxy stands for a buffer': [
    `const errors = []; const { get } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'length');
     for (const fake of [new Proxy(new Uint8Array(8), {}), Object.create(Uint8Array.prototype), new DataView(new ArrayBuffer(1)), {}])
       try { errors.push(get.call(fake)); } catch (error) { errors.push(error.name); }
     return errors.join();`,
    'TypeError,TypeError,TypeError,TypeError',
  ],
  'an array shrinks while it is sorted': [
    `const all = Array.from({ length: 1000 }, (_, i) => ({ i })); let calls = 0;
     all.sort((a, b) => { if ((calls += 1) === 10) all.length = 0; return b.i - a.i; }); return all.length + ',' + all[0].i;`,
    '1000,999',
  ],
  'the comparison of a sort is never the same': [
    `const all = Array.from({ length: 500 }, (_, i) => i); let n = 0; all.sort(() => ((n = n * 16807 + 1) % 3) - 1);
     return String(new Set(all).size);`,
    '500',
  ],
  'an array is emptied while it is spliced': [
    `const all = new Array(1000).fill({}); const cut = all.splice({ valueOf() { all.length = 0; return 0; } }, 1000, ...'abc');
     return cut.length + ',' + all.length;`,
    /^1000,3$/,
  ],
  'an array is emptied while it is joined': [
    `const all = Array.from({ length: 1000 }, () => ({ toString() { all.length = 0; return 'x'; } })); return String(all.join('').length);`,
    '1',
  ],
  'an array becomes large and sparse while it is copied': [
    `const all = [1, 2, 3]; Object.defineProperty(all, 1, { get() { all[2 ** 31] = 1; return 2; } });
     return String(all.concat([]).length) + [...all.slice(0, 3)].join();`,
    /^(?:3|2147483649)1,2,3$/,
  ],
  'an array has its prototype read for its holes': [
    `Array.prototype[1] = 'hole'; const all = [0, , 2]; all.length = 1; all.length = 3; return [all.indexOf('hole'), all.pop(), all.shift(), all.reverse()].join();`,
    /^\d?-?\d*,.*$/,
  ],
  'the last element is taken while it is asked for': [
    `const all = [1, 2, 3]; return String(all.at({ valueOf() { all.length = 0; return -1; } })) + all.lastIndexOf(3, { valueOf() { all.length = 0; return 2; } }) + all.includes(undefined, { valueOf() { all.length = 0; return 0; } });`,
    /^undefined-1(?:true|false)$/,
  ],
  'a map is cleared while it is gone through': [
    `const map = new Map(Array.from({ length: 100 }, (_, i) => [i, i])); let seen = 0;
     map.forEach((_, key) => { seen += 1; map.clear(); if (key < 1000) map.set(key + 1000, 1); }); return String(seen);`,
    '2',
  ],
  'a map grows while it is gone through': [
    `const map = new Map([[0, 0]]); for (const [key] of map) { map.delete(key); if (key < 5000) map.set(key + 1, 1); } return String(map.size);`,
    '0',
  ],
  'a set is changed by the set that it is compared to': [
    `const set = new Set([1, 2, 3]); const other = { size: 3, has(value) { set.clear(); return true; }, keys: () => [][Symbol.iterator]() };
     return [set.isSubsetOf(other), set.size, new Set([1, 2]).intersection(other).size].join();`,
    /^true,0,\d$/,
  ],
  'groups are made by a key that changes them': [
    `const all = [1, 2, 3]; return Map.groupBy(all, (value) => { all.length = 0; return value; }).size + JSON.stringify(Object.groupBy([1], () => '__proto__'));`,
    '1{"__proto__":[1]}',
  ],
  'a reader of JSON changes what it reads': [
    `return JSON.stringify(JSON.parse('[1,[2,3],{"a":4}]', function (key, value) { if (key === '0') { this[1] = { b: this }; this.length = 2; } return value; }) ?? 'none');`,
    { error: 'stack-limit' },
  ],
  'JSON names the prototype': [
    `const all = JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}');
     Object.assign({}, all); return String({}.polluted) + Object.keys(all) + (Object.getPrototypeOf(all) === Object.prototype);`,
    'undefined__proto__,constructortrue',
  ],
  'a conversion to JSON changes what it writes': [
    `const all = { a: { toJSON() { delete all.b; all.c = all.a; return 1; } }, b: 2 }; return JSON.stringify(all, null, { valueOf: () => 1 });`,
    '{"a":1}',
  ],
  'an expression is compiled again while it is used': [
    `const all = /a/g; Object.defineProperty(all, 'lastIndex', { value: { valueOf() { all.compile('((((b))))', 'g'); return 0; } }, writable: true });
     return String(all.exec('abab'));`,
    /^(?:a|b,b,b,b,b|null)$/,
  ],
  'an expression answers with more groups than there can be': [
    `const one = /(?:)/g; let n = 0; one.exec = () => ((n += 1) < 5 ? { index: 2 ** 40, length: 2 ** 31, 0: 'x' } : null);
     return [...'abc'.matchAll(/b/g)].length + 'abc'.replace(one, '$0$1$<a>$\`').slice(0, 50);`,
    { error: 'memory-limit' },
  ],
  'an index of an expression is past its text': [
    `const one = /a/y; one.lastIndex = 2 ** 53 - 1; return String(one.test('a')) + one.lastIndex + String(/\\u{1F600}/uy.exec('\\ud83d'));`,
    'false0null',
  ],
  'texts are cut with lengths that change': [
    `return ['abc'.substring({ valueOf: () => 2 ** 31 }, -1), 'abc'.at(-4), 'abc'.slice(-(2 ** 40), 2 ** 40), 'abc'.charCodeAt(2 ** 32), 'abc'.codePointAt(-1), 'abc'.lastIndexOf('', Infinity)].map(String).join();`,
    'abc,undefined,abc,NaN,undefined,3',
  ],
  'ropes of texts are read while they are made': [
    `let text = 'é'; for (let i = 0; i < 14; i++) { text += text + String(i); text.charCodeAt(text.length - 1); } return String(text.length) + text.slice(-3);`,
    /^\d+\D?\d+$/,
  ],
  'a proxy lies about its keys': [
    `const lies = new Proxy({}, { ownKeys: () => ['a', 'a'] }); const more = new Proxy(Object.freeze({ a: 1 }), { get: () => 2, ownKeys: () => [] });
     const errors = []; for (const lie of [() => Object.keys(lies), () => more.a, () => Reflect.ownKeys(more)]) try { lie(); } catch (error) { errors.push(error.name); }
     return errors.join();`,
    'TypeError,TypeError,TypeError',
  ],
  'a proxy is revoked by its own trap': [
    `const { proxy, revoke } = Proxy.revocable(function () {}, { get(...all) { revoke(); return Reflect.get(...all); }, apply() { revoke(); return 'in'; } });
     return proxy() + (() => { try { return proxy.x; } catch (error) { return error.name; } })();`,
    'inTypeError',
  ],
  'a prototype is changed while a property is looked up': [
    `const base = {}; const one = Object.create(base); Object.setPrototypeOf(base, new Proxy({}, { get() { Object.setPrototypeOf(one, null); return 'got'; } }));
     return one.missing + String(one.missing);`,
    'gotundefined',
  ],
  'a getter deletes itself while it is read': [
    `const one = { get a() { delete this.a; this.b = 1; return Object.keys(this).join(); }, c: 1 }; return one.a + ({ ...one }).b;`,
    'c,b1',
  ],
  'a property is defined by a description that changes': [
    `const one = {}; Object.defineProperty(one, 'a', { get value() { Object.defineProperty(one, 'a', { value: 1, configurable: true }); return 2; }, configurable: true }); return String(one.a);`,
    '2',
  ],
  'a generator runs itself': [
    `const one = (function* () { try { one.next(); } catch (error) { yield error.name; } })(); return one.next().value + String(one.return(1).done);`,
    'TypeErrortrue',
  ],
  'an iterator of iterators closes itself': [
    `let closed = 0; const source = { __proto__: Iterator.prototype, next: () => ({ value: 1, done: false }), return() { closed += 1; taken.return(); return {}; } };
     const taken = source.map((x) => x).filter((x) => x).take(2); const all = [...taken]; return all.length + ',' + closed;`,
    { error: 'plugin-error', message: /^TypeError/ },
  ],
  'an iterator is flattened that throws when it is closed': [
    `const source = { __proto__: Iterator.prototype, next: () => ({ value: 1 }), return() { throw new Error('closed'); } };
     try { [...source.flatMap(() => [1, 2]).take(1)]; return 'done'; } catch (error) { return error.message; }`,
    /^(?:closed|done)$/,
  ],
  'iterators are put together that end each other': [
    `if (!Iterator.concat) return 'none'; const a = { [Symbol.iterator]() { return { next() { all.return(); return { done: false, value: 1 }; }, return() { return {}; } }; } };
     const all = Iterator.concat(a, a); try { return String([...all].length); } catch (error) { return error.name; }`,
    /./,
  ],
  'asynchronous iteration is broken off': [
    `return (async () => { const one = (async function* () { try { yield 1; yield 2; } finally { yield 3; } })(); const first = one.next(); const end = one.return('end'); const thrown = one.throw(new Error('x')).catch((error) => error.message);
     return JSON.stringify([await first, await end, await thrown]); })();`,
    /./,
  ],
  'an array is made of an asynchronous iterator that changes it': [
    `return Array.fromAsync({ length: 3, get 0() { this.length = 1e9; return 1; }, 1: Promise.resolve(2), 2: { then(resolve) { resolve(3); } } }).then((all) => all.join());`,
    '1,2,3',
  ],
  'a weak reference outlives its target': [
    `let target = {}; const one = new WeakRef(target); const map = new WeakMap([[target, 1]]); target = null;
     for (let i = 0; i < 1e4; i++) ({ i, j: { i } }); return typeof one.deref() + String(map.has({}));`,
    /^(?:undefined|object)false$/,
  ],
  'what is called at the end of objects makes more of them': [
    `let calls = 0; const all = new FinalizationRegistry(() => { if ((calls += 1) < 1000) all.register({}, 1); }); all.register({}, 1);
     return new Promise((resolve) => queueMicrotask(() => queueMicrotask(() => resolve(String(calls < 2000)))));`,
    'true',
  ],
  'what is called at the end of objects throws': [
    `const all = new FinalizationRegistry(() => { throw new Error('end'); }); for (let i = 0; i < 10; i++) all.register({}, 1); return Promise.resolve('in');`,
    { error: 'plugin-error', message: /Error: end/ },
  ],
  'symbols that are registered are weakly held': [
    `const errors = []; for (const value of [Symbol.for('a'), 1, null]) for (const make of [() => new WeakRef(value), () => new WeakSet([value])]) try { make(); } catch (error) { errors.push(error.name); }
     return [...new Set(errors)].join() + new WeakSet([Symbol('a')]).constructor.name;`,
    'TypeErrorWeakSet',
  ],
  'a class is used before it is made': [
    `const errors = []; for (const code of ['class A extends A {}', 'class A { static [A.name]; }', 'class A { static x = A.y(); static y() { return this.#z; } static #z = 1; }; A.x', 'new (class extends null {})', 'new (class extends Object { constructor() { this.x; } })', 'new (class extends Object { constructor() { super(); super(); } })'])
       try { errors.push((0, eval)(code)); } catch (error) { errors.push(error.name); } return errors.map(String).join();`,
    /^ReferenceError,ReferenceError,/,
  ],
  'private names are put on what they are not of': [
    `class Base { constructor(other) { return other; } } class Stamp extends Base { #mark = 1; static read(one) { return one.#mark; } static has(one) { return #mark in one; } }
     const one = Object.freeze({}); const found = [Stamp.has(one)]; try { new Stamp(one); found.push(Stamp.read(one)); new Stamp(one); } catch (error) { found.push(error.name); } return found.join();`,
    /^false,(?:1,)?TypeError$/,
  ],
  'a value of the engine that no code should have is caught': [
    `try { "\\ufdfa".repeat(1e6).normalize("NFKD"); return 'in'; } catch (error) {
       const found = []; for (const use of [() => String(error), () => error.x, () => error(), () => [error].join(), () => new Map([[error, error]]).get(error), () => ({ error }).error, () => error + 1, () => Object(error), () => console.log(error)])
         try { found.push(String(use())); } catch (thrown) { found.push('thrown'); }
       return 'caught'; }`,
    /^(?:in|caught)$/,
  ],
};

describe("operations whose operands change meanwhile stay within the engine's memory", () => {
  testAttacks(
    Object.fromEntries(
      Object.entries(changing).map(([what, [body, expected]]): [string, Attack] => [
        `nothing is damaged when ${what}`,
        [running(body), expected],
      ]),
    ),
  );
});
