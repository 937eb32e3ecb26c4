import assert from 'node:assert/strict';
import { test } from 'node:test';
import { running } from '../../service/plugin.ts';
import { script, startRunner } from './target.ts';

function startReader() {
  const run = startRunner();
  return async (code: string): Promise<string> => {
    const outcome = await run(script(code));
    assert.ok('result' in outcome, JSON.stringify(outcome));
    return outcome.result;
  };
}

const clocks = 'JSON.stringify([performance.timeOrigin, performance.now(), Date.now()])';
const readClocks = running(`return ${clocks};`);
const clocksIn = (json: string) => JSON.parse(json) as [origin: number, now: number, date: number];

test('the monotonic clock starts with each run, whatever ran before, and has the same origin in every runner', async () => {
  for (const run of [startReader(), startReader()]) {
    // A plugin that needs more memory runs in another engine.
    const larger = running(`const room = new Uint8Array(5e6); return ${clocks};`);
    const wait = running('const end = Date.now() + 20; while (Date.now() < end); return "";');
    for (const code of [readClocks, wait, readClocks, larger, larger, wait, larger, wait, readClocks]) {
      const began = performance.now();
      const output = await run(code);
      if (code === wait) continue;
      const [origin, now] = clocksIn(output);
      assert.equal(origin, 0);
      assert.ok(now >= 0 && now <= performance.now() - began, `${now}`);
    }
  }
});

test('the time of day in a run is the real one', async () => {
  const run = startReader();
  for (let i = 0; i < 3; i++) {
    const before = Date.now();
    const [, , date] = clocksIn(await run(readClocks));
    assert.ok(date >= before && date <= Date.now());
  }
});

const wholeWord = (1n << 64n) - 1n;
const multiplier = 0x2545f4914f6cdd1dn;
/** What undoes the multiplication, modulo 2^64. */
const inverse = 0x59071d96d81ecd35n;

/** One step of the engine's generator, xorshift64*. */
function nextState(state: bigint): bigint {
  let next = state;
  next ^= next >> 12n;
  next = (next ^ (next << 25n)) & wholeWord;
  return next ^ (next >> 27n);
}

/** A number from 0 to 1 has the upper 52 bits of the product. */
const numberFrom = (state: bigint) => Number(((state * multiplier) & wholeWord) >> 12n) / 2 ** 52;

/** The generator's state after `numbers`, found as anybody can who knows the generator: there are 12 bits to guess. */
function stateAfter([first = 0, ...rest]: readonly number[]): bigint {
  const upper = BigInt(first * 2 ** 52) << 12n;
  for (let guess = 0n; guess < 4096n; guess++) {
    let state = ((upper | guess) * inverse) & wholeWord;
    if (rest.every((number) => numberFrom((state = nextState(state))) === number)) return state;
  }
  throw new Error('No state gives these numbers.');
}

function numbersAfter(state: bigint, count: number): number[] {
  let next = state;
  return Array.from({ length: count }, () => numberFrom((next = nextState(next))));
}

const sixNumbers = 'JSON.stringify(Array.from({ length: 6 }, () => Math.random()))';
const inRun = running(`return ${sixNumbers};`);
const inOtherRun = running(`return input + ${sixNumbers};`);
const inTopLevel = `const numbers = ${sixNumbers};\n${running('return numbers;')}`;
const numbersIn = (json: string) => JSON.parse(json) as number[];

test('the random numbers of a run predict only later ones of the same run', async () => {
  const run = startReader();
  for (let round = 0; round < 5; round++) {
    const numbers = numbersIn(await run(inRun));
    const state = stateAfter(numbers.slice(0, 3));
    assert.deepEqual(numbersAfter(state, 3), numbers.slice(3));
    const predicted = new Set(numbersAfter(state, 10_000));
    for (const code of [inRun, inOtherRun, inTopLevel, inTopLevel]) {
      for (const number of numbersIn(await run(code))) assert.ok(!predicted.has(number), code);
    }
  }
});

for (const [place, code] of Object.entries({ run: inRun, 'the top level': inTopLevel })) {
  test(`every bit of the random numbers' state differs from run to run, in ${place}`, async () => {
    const run = startReader();
    let everSet = 0n;
    let everClear = 0n;
    for (let i = 0; i < 64; i++) {
      const state = stateAfter(numbersIn(await run(code)).slice(0, 3));
      everSet |= state;
      everClear |= ~state & wholeWord;
    }
    assert.deepEqual([everSet, everClear], [wholeWord, wholeWord]);
  });
}
