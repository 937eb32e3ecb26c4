import { InvalidSchemaError } from './read-schema.ts';
import type { Place } from './read-schema.ts';

/** The number of the definition that a linked part refers to. */
export const definitionOf = (ref: unknown): number => Number(String(ref).slice('#/$defs/'.length));

/** Throws for definitions that refer to themselves for the very same value, because a check by them would never end. */
export function refuseEndlessLoops(definitions: readonly unknown[], places: readonly Place[]): void {
  const next = definitions.map((one) => [...sameValueReferences(one)]);
  const state = new Map<number, 'open' | 'done'>();
  for (const first of definitions.keys()) {
    const stack = [{ number: first, left: [...(next[first] ?? [])] }];
    if (state.has(first)) continue;
    state.set(first, 'open');
    for (let last = stack.at(-1); last; last = stack.at(-1)) {
      const number = last.left.pop();
      if (number === undefined) {
        state.set(last.number, 'done');
        stack.pop();
      } else if (state.get(number) === 'open') {
        throw new InvalidSchemaError(places[number], 'refers to itself without an end');
      } else if (!state.has(number)) {
        state.set(number, 'open');
        stack.push({ number, left: [...(next[number] ?? [])] });
      }
    }
  }
}

/** The keywords whose parts apply to the same value as the part that holds them. */
export const sameValue = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'];

/** The definitions that a part applies to the same value as itself. */
function* sameValueReferences(part: unknown): Generator<number> {
  if (typeof part !== 'object' || part === null) return;
  const keywords = part as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(keywords, '$ref')) yield definitionOf(keywords['$ref']);
  for (const keyword of sameValue) {
    if (!Object.hasOwn(keywords, keyword)) continue;
    const value = keywords[keyword];
    const parts =
      Array.isArray(value) || keyword === 'dependentSchemas' ? Object.values(value as object) : [value];
    for (const one of parts) yield* sameValueReferences(one);
  }
}
