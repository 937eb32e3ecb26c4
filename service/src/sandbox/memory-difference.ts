/**
 * The ranges in which a memory differs from a base that is as large, or from a base and zeros after its end. The state of a plugin
 * is a few dozen kilobytes in a memory of megabytes, so that many states can be kept as differences.
 */
export interface MemoryDifference {
  readonly ranges: readonly { readonly offset: number; readonly bytes: Uint8Array }[];
  /** How many bytes the ranges hold. */
  readonly size: number;
}

// Large equal blocks are skipped; only blocks that differ are compared in smaller steps.
const steps = [65_536, 4096, 256, 64];

/** What a memory holds where it has grown: as much as the largest step. */
const zeros = Buffer.alloc(65_536);

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength);

/**
 * The difference that has to be applied to `base`, with zeros after its end, to get `memory`. Throws a `RangeError` where `memory`
 * is the smaller one, or `base` does not end with a block of 64 KiB.
 */
export function differenceBetween(base: Uint8Array, memory: Uint8Array): MemoryDifference {
  const { byteLength: size } = base;
  if (size > memory.byteLength || (size < memory.byteLength && size % zeros.byteLength))
    throw new RangeError('The memories differ in size.');
  const found: { start: number; end: number }[] = [];
  const [present, former] = [bufferOf(memory), bufferOf(base)];
  const visit = (start: number, end: number, level: number) => {
    const difference =
      start < size
        ? present.compare(former, start, end, start, end)
        : present.compare(zeros, 0, end - start, start, end);
    if (difference === 0) return;
    // Small steps only save memory where the base has something, such as the engine's own objects.
    const step = start < size ? steps[level] : steps[Math.min(level, 1)];
    if (step === undefined || step >= end - start) {
      const last = found.at(-1);
      // Adjacent blocks become one range, because one longer copy is quicker than several.
      if (last?.end === start) last.end = end;
      else found.push({ start, end });
      return;
    }
    for (let at = start; at < end; at += step) visit(at, Math.min(at + step, end), level + 1);
  };
  const [step = 0] = steps;
  for (let at = 0; at < memory.byteLength; at += step) visit(at, Math.min(at + step, memory.byteLength), 1);
  const total = found.reduce((sum, { start, end }) => sum + end - start, 0);
  // In one block, because a block for each range costs more than its bytes.
  const copy = new Uint8Array(total);
  let at = 0;
  const ranges = found.map(({ start, end }) => {
    const bytes = copy.subarray(at, at + end - start);
    bytes.set(memory.subarray(start, end));
    at += end - start;
    return { offset: start, bytes };
  });
  return { ranges, size: total };
}

/** Applies a difference to `memory`, which must be a copy of the difference's base, and zero after it. */
export function applyDifference(memory: Uint8Array, { ranges }: MemoryDifference): void {
  for (const { offset, bytes } of ranges) memory.set(bytes, offset);
}
