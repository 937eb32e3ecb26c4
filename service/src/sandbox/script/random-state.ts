import type { QuickJS } from 'quickjs-wasi';

/** The engine's generator, xorshift64*, has a state of this many bytes. */
export const randomStateSize = 8;

// The state is a field of the engine's context, within its first bytes.
const contextSize = 1024;

/**
 * Finds where in its memory an engine keeps the state of `Math.random()`. The engine has no function to seed it, and seeds it by
 * the clock, which others can guess. Throws unless exactly one place determines the numbers.
 *
 * @param memory the engine's memory. Its buffer is read each time, because it is replaced when the memory grows
 */
export function locateRandomState(vm: QuickJS, memory: { readonly buffer: ArrayBuffer }): number {
  const random = () => vm.evalCode('Math.random()').consume((handle) => handle.toNumber());
  const contextAt = vm.snapshot().contextPtr;
  const words = () => new BigUint64Array(memory.buffer.slice(contextAt, contextAt + contextSize));
  const write = (at: number, value: bigint) => new DataView(memory.buffer).setBigUint64(at, value, true);
  // The first call allocates objects, so that the two snapshots below differ in nothing but the state.
  random();
  const before = words();
  random();
  const after = words();
  const places = [...before.keys()]
    .filter((i) => before[i] !== after[i])
    .map((i) => contextAt + i * randomStateSize)
    .filter((at) => {
      const numberFor = (state: bigint) => {
        write(at, state);
        return random();
      };
      const [first, other, again] = [numberFor(12_345n), numberFor(678_910n), numberFor(12_345n)];
      return first === again && first !== other;
    });
  const [place, ...others] = places;
  if (place === undefined || others.length) {
    throw new Error(
      `The state of the engine's random numbers was found in ${places.length} places, not in one.`,
    );
  }
  return place;
}
