import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeOversize, moduleLimits } from '../../../service/src/sandbox/wasm/wasm-check.ts';

const leb = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...leb(Math.floor(n / 128))]);
const section = (id: number, bytes: readonly number[]) => [id, ...leb(bytes.length), ...bytes];
const i32 = 0x7f;
const nop = 1;
/** How every module starts: the format's name and its version. */
const magic = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const end = 0x0b;

/** A module of functions without results, each with some parameters, locals and bytes of code that does nothing. */
function moduleOf(
  functions: readonly { parameters?: number; locals?: number[]; code?: number }[],
  table = 0,
) {
  const types = functions.map(({ parameters = 0 }) => [
    0x60,
    ...leb(parameters),
    ...Array<number>(parameters).fill(i32),
    0,
  ]);
  const bodies = functions.map(({ locals = [], code = 0 }) => {
    const body = [...leb(locals.length), ...locals.flatMap((count) => [...leb(count), i32])];
    const padding = Array<number>(Math.max(0, code - body.length - 1)).fill(nop);
    const bytes = [...body, ...padding, end];
    return [...leb(bytes.length), ...bytes];
  });
  const count = leb(functions.length);
  return Uint8Array.from([
    ...magic,
    ...section(1, [...count, ...types.flat()]),
    ...section(3, [...count, ...functions.flatMap((_, i) => leb(i))]),
    ...section(4, [1, 0x70, 0, ...leb(table)]),
    ...section(10, [...count, ...bodies.flat()]),
  ]);
}

const refused: Record<string, [module: Uint8Array, reason: RegExp]> = {
  'a function with too many locals': [moduleOf([{ locals: [moduleLimits.locals + 1] }]), /4001 variables/],
  'locals in many groups': [moduleOf([{ locals: Array<number>(500).fill(10) }]), /5000 variables/],
  'parameters that count to the locals': [moduleOf([{ parameters: 900, locals: [3200] }]), /4100 variables/],
  'a later function with too many locals': [moduleOf([{}, {}, { locals: [9999] }]), /9999 variables/],
  'a number of locals that no machine has': [moduleOf([{ locals: [4_294_967_295] }]), /4294967295 variables/],
  'a function with too much code': [moduleOf([{ code: moduleLimits.code + 1 }]), /262145 bytes of code/],
  'many locals and much code in one function': [
    moduleOf([{ locals: [2000], code: 10_000 }]),
    /2000 variables and 10000 bytes of code, and the limit is 1677 variables/,
  ],
  'too many functions': [moduleOf(Array.from({ length: 20_001 }, () => ({}))), /20001 functions/],
  'a table that is too large': [moduleOf([{}], 100_001), /100001 entries/],
  'a module that is too large': [new Uint8Array(moduleLimits.module + 1), /2097153 bytes/],
};

describe('the check of a WebAssembly module', () => {
  for (const [name, [module, reason]] of Object.entries(refused)) {
    test(`refuses ${name}`, () => assert.match(describeOversize(module) ?? 'nothing', reason));
  }

  test('accepts modules like those of honest plugins, and modules at the limits', () => {
    const modules = {
      empty: moduleOf([]),
      small: moduleOf([{ locals: [3, 1], code: 200 }]),
      'long function': moduleOf([{ locals: [400], code: 40_000 }]),
      locals: moduleOf([{ locals: [moduleLimits.locals], code: 4000 }]),
      code: moduleOf([{ locals: [10], code: moduleLimits.code }]),
    };
    for (const [name, module] of Object.entries(modules)) {
      assert.equal(describeOversize(module), undefined, name);
      assert.ok(WebAssembly.validate(module), name);
    }
  });

  test('checks the functions of a module with very many types', () => {
    const types = Array.from({ length: 300_000 }, () => [0x60, 0, 0]).flat();
    const locals = [1, ...leb(9999), i32, end];
    const module = Uint8Array.from([
      ...magic,
      ...section(1, [...leb(300_000), ...types]),
      ...section(3, [1, 0]),
      ...section(10, [1, ...leb(locals.length), ...locals]),
    ]);
    assert.match(describeOversize(module) ?? 'nothing', /9999 variables/);
  });

  test('leaves what is not a module to the engine', () => {
    const module = moduleOf([{ locals: [3, 1], code: 200 }]);
    for (let size = 0; size < module.byteLength; size++) {
      assert.equal(describeOversize(module.slice(0, size)), undefined);
    }
  });
});
