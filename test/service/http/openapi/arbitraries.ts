import * as fc from 'fast-check';
import { resolved } from './openapi.ts';
import type { OpenApi, Parameter, Schema } from './openapi.ts';

/** The arbitraries of texts that match a pattern: making one looks up many characters, and most patterns stand at many places. */
const matching = new Map<string, fc.Arbitrary<string>>();

function matchingText(pattern: string): fc.Arbitrary<string> {
  const text = matching.get(pattern) ?? fc.stringMatching(new RegExp(pattern, 'u'));
  matching.set(pattern, text);
  return text;
}

/** Any character but halves of surrogate pairs. The library's own, "binary", first makes a table of all of them. */
const character = fc
  .integer({ min: 0, max: 0x10f7ff })
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

/** Values that a schema of a document allows. What a keyword that is not known here forbids may be among them. */
export function allowedBy(document: OpenApi, schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  const known = resolved(document, schema);
  const { type, pattern, properties, items, anyOf, oneOf } = known;
  const within = (inner: Schema) => allowedBy(document, inner, depth + 1);
  if (known.const !== undefined) return fc.constant(known.const);
  if (known.enum) return fc.constantFrom(...known.enum);
  const options = anyOf ?? oneOf;
  // A schema that holds itself ends with its simplest option.
  if (options) return depth > 4 ? within(options[0] ?? {}) : fc.oneof(...options.map(within));
  switch (type) {
    case 'string': {
      if (pattern !== undefined) return matchingText(pattern);
      const { minLength = 0 } = known;
      const maxLength = Math.min(known.maxLength ?? 50, 50);
      const text = fc.string({ unit: character, minLength, maxLength });
      // What no database takes is seldom among random characters.
      return fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: text.map(withNul) });
    }
    case 'integer':
      return fc.integer({ min: known.minimum ?? -1000, max: known.maximum ?? 2 ** 31 });
    case 'number':
      return fc.double({ min: known.minimum ?? -1e6, max: known.maximum ?? 1e6, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const { minItems = 0, maxItems = 5 } = known;
      return fc.array(within(items ?? {}), { minLength: minItems, maxLength: Math.min(maxItems, 5) });
    }
    case 'object': {
      const { additionalProperties, required = [] } = known;
      const fields = Object.fromEntries(
        Object.entries(properties ?? {}).map(([key, one]) => [key, within(one)]),
      );
      const named = fc.record(fields, { requiredKeys: [...required] });
      if (additionalProperties === false) return named;
      const others = within(typeof additionalProperties === 'object' ? additionalProperties : {});
      return fc.tuple(named, fc.dictionary(fc.string(), others, { maxKeys: 2 })).map(([own, more]) => ({
        ...Object.fromEntries(Object.entries(more).filter(([key]) => !Object.hasOwn(fields, key))),
        ...own,
      }));
    }
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

/** The same text with U+0000 instead of its first character; an empty one stays empty. */
const withNul = (text: string) => text.replace(/^[^]/u, '\0');

/** Values at the edges of what a schema allows, always the same: for an object, some with each of the edges of each field. */
export function edgesOf(document: OpenApi, schema: Schema): unknown[] {
  const known = resolved(document, schema);
  const { type, pattern, properties, anyOf, oneOf, minimum, maximum, minLength = 0, maxLength } = known;
  if (known.const !== undefined) return [known.const];
  if (known.enum) return [...known.enum];
  const options = anyOf ?? oneOf;
  if (options) return options.flatMap((one) => edgesOf(document, one));
  switch (type) {
    case 'string':
      if (pattern !== undefined) break;
      return [
        'x'.repeat(minLength),
        'x'.repeat(Math.min(maxLength ?? 300, 15_000)),
        '\0'.repeat(minLength || 1),
      ];
    case 'integer':
      return [minimum, maximum].filter((value) => value !== undefined);
    case 'boolean':
      return [true, false];
    case 'null':
      return [null];
    case 'object': {
      const [least] = fc.sample(allowedBy(document, { ...known, properties: requiredOf(known) }), {
        numRuns: 1,
        seed: 1,
      });
      return Object.entries(properties ?? {}).flatMap(([key, one]) =>
        edgesOf(document, one).map((value) => ({ ...(least as object), [key]: value })),
      );
    }
    default:
  }
  return fc.sample(allowedBy(document, known), { numRuns: 2, seed: 1 });
}

const requiredOf = ({ properties = {}, required = [] }: Schema) =>
  Object.fromEntries(Object.entries(properties).filter(([key]) => required.includes(key)));

/** JSON values near to those of another arbitrary: with a part left out, or with something else in its place. */
export const changed = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(values, fc.nat(), fc.jsonValue({ maxDepth: 1 }), fc.boolean())
    .map(([value, place, other, leavesOut]) => {
      const copy: unknown = JSON.parse(JSON.stringify({ root: value }));
      const places = placesIn(copy as Parts);
      const chosen = places[place % places.length];
      if (chosen) {
        const [parts, key] = chosen;
        if (leavesOut && !Array.isArray(parts) && key !== 'root') delete parts[key];
        else parts[key] = other;
      }
      return (copy as { root: unknown }).root;
    });

type Parts = Record<string, unknown>;

/** All that a value holds, each as what it is in and by which key. */
function placesIn(value: Parts): [parts: Parts, key: string][] {
  return Object.entries(value).flatMap(([key, inner]) => [
    [value, key] as [Parts, string],
    ...(typeof inner === 'object' && inner !== null ? placesIn(inner as Parts) : []),
  ]);
}

/** A value of a parameter: the first of its examples, or one that its schema allows, always the same. */
export function exampleOf(document: OpenApi, { schema }: Parameter): string {
  const { examples = [], example = examples[0] } = schema;
  const [value] =
    example === undefined ? fc.sample(allowedBy(document, schema), { numRuns: 1, seed: 1 }) : [example];
  return String(value);
}
