/**
 * The ranges in which a memory differs from a base that is as large, or from a base and zeros after its end. The state of a plugin
 * is a few dozen kilobytes in a memory of megabytes, so that many states can be kept as differences.
 */
export interface MemoryDifference {
  readonly ranges: readonly { readonly offset: number; readonly bytes: Uint8Array }[];
  /** How many bytes the ranges hold. */
  readonly size: number;
}

/** What is compared at once, in bytes: a page of WebAssembly. */
export const blockSize = 65_536;

/** What is compared at once of a block that differs. */
const smallBlock = 4096;

/** The smallest part of a range, in bytes. */
const cellSize = 64;

/** What a memory holds where it has grown. */
const zeros = Buffer.alloc(blockSize);

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength);

const toUint32Array = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new Uint32Array(buffer, byteOffset, byteLength / 4);

/**
 * The difference that has to be applied to `base`, with zeros after its end, to get `memory`: both are whole blocks of 64 KiB.
 * Throws a `RangeError` where one is not, or `memory` is the smaller one.
 * @param first where to begin, in bytes: what is before counts as equal
 */
export function differenceBetween(base: Uint8Array, memory: Uint8Array, first = 0): MemoryDifference {
  const { byteLength: size } = base;
  if (size > memory.byteLength || [size, memory.byteLength, first].some((one) => one % blockSize))
    throw new RangeError('The memories differ in size, or are not of whole blocks.');
  const found: { start: number; end: number }[] = [];
  // Adjacent parts become one range, because one longer copy is quicker than several.
  const add = (start: number, end: number) => {
    const last = found.at(-1);
    if (last?.end === start) last.end = end;
    else found.push({ start, end });
  };
  const [present, former] = [bufferOf(memory), bufferOf(base)];
  const [presentWords, formerWords] = [toUint32Array(memory), toUint32Array(base)];
  const addCells = (start: number, end: number) => {
    for (let at = start; at < end; at += cellSize) {
      let word = at / 4;
      const last = word + cellSize / 4;
      while (word < last && presentWords[word] === formerWords[word]) word += 1;
      if (word < last) add(at, at + cellSize);
    }
  };
  for (let block = first; block < memory.byteLength; block += blockSize) {
    const isInBase = block < size;
    const other = isInBase ? former : zeros;
    const offset = isInBase ? 0 : block;
    const isEqual = (start: number, end: number) =>
      present.compare(other, start - offset, end - offset, start, end) === 0;
    if (isEqual(block, block + blockSize)) continue;
    for (let at = block; at < block + blockSize; at += smallBlock) {
      if (isEqual(at, at + smallBlock)) continue;
      // Small cells only save memory where the base has something, such as the engine's own objects.
      if (isInBase) addCells(at, at + smallBlock);
      else add(at, at + smallBlock);
    }
  }
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

/** Makes `memory` equal to `base` again, from which it has only this difference. Both are equally large. */
export function undoDifference(memory: Uint8Array, { ranges }: MemoryDifference, base: Uint8Array): void {
  for (const { offset, bytes } of ranges)
    memory.set(base.subarray(offset, offset + bytes.byteLength), offset);
}
