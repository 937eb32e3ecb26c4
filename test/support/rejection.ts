/** Resolves with the reason of a rejection. A promise that is fulfilled fails the test. */
export async function rejection<E = Error>(promise: Promise<unknown>): Promise<E> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error as E;
  }
  throw new Error(`Should have been rejected, but gave ${JSON.stringify(value)}`);
}

/** Every text that an error holds at any depth: message, stack, fields, causes. It is what a log might show. */
export function textOf(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (seen.has(value)) return '';
  seen.add(value);
  return Object.getOwnPropertyNames(value)
    .map((name) => `${name}: ${textOf((value as Record<string, unknown>)[name], seen)}`)
    .join('\n');
}
