/**
 * The JSON Pointer (RFC 6901) to the part that these keys lead to.
 * @param max its longest length, in UTF-16 code units (default: any). Where it would be longer, it points to a parent of the part
 */
export function toPointer(keys: readonly PropertyKey[], max = Infinity): string {
  let pointer = '';
  for (const key of keys) {
    const next = `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (next.length > max) break;
    pointer = next;
  }
  return pointer;
}

/** The keys that a JSON Pointer leads along. */
export const keysOfPointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
