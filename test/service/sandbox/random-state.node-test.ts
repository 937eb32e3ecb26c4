import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { QuickJS } from 'quickjs-wasi';
import { locateRandomState, randomStateSize } from '../../../service/src/sandbox/script/random-state.ts';

const wasm = new WebAssembly.Module(readFileSync(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))));

/** An engine and its memory. */
async function startEngine() {
  let memory: { readonly buffer: ArrayBuffer } | undefined;
  const vm = await QuickJS.create({
    wasm,
    wasi: (ofEngine) => {
      memory = ofEngine;
      return {};
    },
  });
  assert.ok(memory);
  return { vm, memory };
}

test('the state of the random numbers is in one place of this version of the engine, which determines them', async () => {
  const { vm, memory } = await startEngine();
  const at = locateRandomState(vm, memory);
  const random = () => vm.evalCode('Math.random()').consume((handle) => handle.toNumber());
  const seed = () => new DataView(memory.buffer).setBigUint64(at, 1n, true);
  seed();
  const first = [random(), random()];
  seed();
  assert.deepEqual([random(), random()], first);
  assert.ok(at % randomStateSize === 0);
});

test('an engine whose state of random numbers is elsewhere is refused with a sentence that says so', async () => {
  const { vm } = await startEngine();
  // As an engine would be that keeps the state out of the memory that is probed.
  const elsewhere = { buffer: new ArrayBuffer(2 ** 24) };
  assert.throws(
    () => locateRandomState(vm, elsewhere),
    /^Error: The state of the engine's random numbers was found in 0 places, not in one\.$/,
  );
});
