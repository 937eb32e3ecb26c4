/**
 * A memory as its difference to another of the same size: the ranges in which they differ. A plugin's state is a few
 * dozen kilobytes of a memory of megabytes, so that many can be kept.
 */
export interface MemoryDifference {
  readonly ranges: readonly { readonly offset: number; readonly bytes: Uint8Array }[];
  /** How many bytes the ranges hold. */
  readonly size: number;
}

// Equal memory is passed over in large steps; only what differs is looked at more closely.
const steps = [65_536, 4096, 256];

/** What to write over `base` to get `memory`. Both must be of the same size. */
export function differenceBetween(base: Uint8Array, memory: Uint8Array): MemoryDifference {
  if (base.byteLength !== memory.byteLength) throw new RangeError('The memories differ in size.');
  const found: { start: number; end: number }[] = [];
  const visit = (start: number, end: number, level: number) => {
    if (Buffer.compare(base.subarray(start, end), memory.subarray(start, end)) === 0) return;
    const step = steps[level];
    if (step === undefined) {
      const last = found.at(-1);
      // Adjacent blocks become one range: writing it once is quicker.
      if (last?.end === start) last.end = end;
      else found.push({ start, end });
      return;
    }
    for (let at = start; at < end; at += step) visit(at, Math.min(at + step, end), level + 1);
  };
  visit(0, memory.byteLength, 0);
  const ranges = found.map(({ start, end }) => ({ offset: start, bytes: memory.slice(start, end) }));
  return { ranges, size: ranges.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) };
}

/** Makes `memory`, which must be a copy of the difference's base, what the difference was taken of. */
export function applyDifference(memory: Uint8Array, { ranges }: MemoryDifference): void {
  for (const { offset, bytes } of ranges) memory.set(bytes, offset);
}
