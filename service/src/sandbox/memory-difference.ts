/**
 * The ranges in which a memory differs from another one of the same size. The state of a plugin is a few dozen kilobytes in a
 * memory of megabytes, so that many states can be kept as differences.
 */
export interface MemoryDifference {
  readonly ranges: readonly { readonly offset: number; readonly bytes: Uint8Array }[];
  /** How many bytes the ranges hold. */
  readonly size: number;
}

// Large equal blocks are skipped; only blocks that differ are compared in smaller steps.
const steps = [65_536, 4096, 256];

/** The difference that has to be applied to `base` to get `memory`. Both must have the same size. */
export function differenceBetween(base: Uint8Array, memory: Uint8Array): MemoryDifference {
  if (base.byteLength !== memory.byteLength) throw new RangeError('The memories differ in size.');
  const found: { start: number; end: number }[] = [];
  const visit = (start: number, end: number, level: number) => {
    if (Buffer.compare(base.subarray(start, end), memory.subarray(start, end)) === 0) return;
    const step = steps[level];
    if (step === undefined) {
      const last = found.at(-1);
      // Adjacent blocks become one range, because one longer copy is quicker than several.
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

/** Applies a difference to `memory`, which must be a copy of the difference's base. */
export function applyDifference(memory: Uint8Array, { ranges }: MemoryDifference): void {
  for (const { offset, bytes } of ranges) memory.set(bytes, offset);
}
