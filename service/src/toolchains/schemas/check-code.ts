import { createRequire } from 'node:module';
import { keysOfPointer } from '../../json-pointer.ts';
import type { JsonSchema } from '../../plugins/schemas.ts';
import { definitionOf, sameValue } from './endless-references.ts';
import { formats } from './formats.ts';
import { subschemas } from './keywords.ts';
import { keywordsOf } from './read-schema.ts';

/*
 * Makes the source of a function that validates values by a schema. Because anybody may have written the schema, this is only
 * used in a separate process, and the function only runs in the sandbox's engine.
 */

interface Library {
  readonly validator: (schema: JsonSchema, options: object) => { toModule(options: object): string };
  readonly lint: (
    schema: JsonSchema,
    options: object,
  ) => readonly { readonly keywordLocation: string; readonly schema: unknown }[];
}

interface LibraryFunctions {
  pointerPart: (key: string | number) => string;
  toPointer: (path: readonly (string | number)[]) => string;
}

const options = {
  // By the specification, and not by the library's stricter rules for handwritten schemas.
  mode: 'spec',
  $schemaDefault: 'https://json-schema.org/draft/2020-12/schema',
  includeErrors: true,
  isJSON: true,
  unmodifiedPrototypes: true,
  formatAssertion: true,
  formats,
  contentValidation: false,
};

/**
 * Loads the library, and returns a function that makes the source of a check: an array of the validator, which returns whether a
 * value fits and has `errors` where it does not, of the schema as JSON, from which messages are made, and of its formats' functions.
 */
export function loadCheckMaker(): (schema: JsonSchema) => string {
  const require = createRequire(import.meta.url);
  const functions = require('@exodus/schemasafe/src/scope-functions') as LibraryFunctions;
  // Version 1.3.0 escapes "~" and "/" in a key only where one follows the other. Its compiler reads these two functions when it is
  // loaded, and writes the source of the first into validators, so that it must not refer to anything else.
  functions.pointerPart = (key) => `${key}`.replace(/~/g, '~0').replace(/\//g, '~1');
  functions.toPointer = (path) => (path.length ? `#/${path.map(functions.pointerPart).join('/')}` : '#');
  const { validator, lint } = require('@exodus/schemasafe') as Library;
  const compile = (linked: JsonSchema) => {
    const schema = withTracedLoops(withIntegers(linked));
    return { schema, check: validator(schema, options).toModule({ semi: false }) };
  };
  const compileAnyhow = (linked: JsonSchema) => {
    try {
      return compile(linked);
    } catch (error) {
      const refusal = refusalOf(linked, lint, error);
      if (refusal === error) throw error;
      try {
        return compile(withPartsApart(linked));
      } catch {
        throw refusal;
      }
    }
  };
  return (linked) => {
    const { schema, check } = compileAnyhow(linked);
    const json = JSON.stringify(schema);
    const used = Object.entries(formats).filter(([name]) => json.includes(`"format":"${name}"`));
    const functionsOf = used.map(([name, format]) => `${JSON.stringify(name)}: ${String(format)}`).join();
    return `[${check}, ${JSON.stringify(json)}, {${functionsOf}}]`;
  };
}

/** A part of a linked schema fits no value, or no value that it is for. */
export class UnusablePartError extends Error {
  override readonly name = 'UnusablePartError';
  /** The number of the definition that it is in; `undefined` where it is in none. */
  readonly definition: number | undefined;
  /** Leads to it from that definition, or from the schema's root. */
  readonly path: readonly string[];

  constructor(definition: number | undefined, path: readonly string[], message: string) {
    super(message);
    this.definition = definition;
    this.path = path;
  }
}

/** What the library refuses although it is legal, and what is wrong with it. */
const refusals: readonly (readonly [refusal: RegExp, message: string])[] = [
  [/^No valid types possible/, 'fits no value: none has the types that are asked for'],
  [/^Unexpected rules in type/, 'has keywords for values of other types than are asked for'],
  [/^Invalid maxItems/, 'allows fewer items than "prefixItems" describes'],
  [/^Unknown required property: (".*")/s, 'fits no object: it requires $1, and allows no such property'],
];

/** The error for a schema that the library does not compile. */
function refusalOf(schema: JsonSchema, lint: Library['lint'], error: unknown): unknown {
  const { message } = error as Error;
  const [refusal, text = ''] = refusals.find(([one]) => one.test(message)) ?? [];
  if (!refusal) return error;
  // The error itself does not say in which definition it is.
  const linted = withIntegers(schema);
  const [first] = lint(linted, options);
  if (!first) return error;
  const definitions = Object.values(definitionsIn(linted));
  const definition = definitions.findIndex((one) => one === first.schema);
  const path = keysOfPointer(first.keywordLocation.slice(1));
  const [matched = ''] = refusal.exec(message.slice(0, message.lastIndexOf(' at #'))) ?? [];
  return new UnusablePartError(definition < 0 ? undefined : definition, path, matched.replace(refusal, text));
}

/** Writes a part anew. `keyword`: the one that holds it; empty for the root and definitions, to which it may add others. */
type WritePart = (
  part: Readonly<Record<string, unknown>>,
  keyword: string,
  definitions: unknown[],
) => unknown;

/** Writes a linked schema anew, part by part, the inner ones first. */
function rewrite(schema: JsonSchema, write: WritePart): JsonSchema {
  const { $defs: _, ...root } = keywordsOf(schema);
  const given = Object.values(definitionsIn(schema));
  const definitions = [...given];
  const written = (part: unknown, holder: string): unknown => {
    if (typeof part !== 'object' || part === null) return part;
    const keywords = Object.entries(part).map(
      ([keyword, value]) => [keyword, within(keyword, value)] as const,
    );
    return write(Object.fromEntries(keywords), holder, definitions);
  };
  const within = (keyword: string, value: unknown): unknown => {
    const holding = Object.hasOwn(subschemas, keyword) ? subschemas[keyword] : undefined;
    if (holding === 'one') return written(value, keyword);
    if (holding === 'list') return (value as readonly unknown[]).map((part) => written(part, keyword));
    if (holding !== 'map') return value;
    const parts = Object.entries(value as object).map(
      ([name, part]) => [name, written(part, keyword)] as const,
    );
    return Object.fromEntries(parts);
  };
  for (const [number, definition] of given.entries()) definitions[number] = written(definition, '');
  return { ...(written(root, '') as object), $defs: Object.fromEntries(definitions.entries()) };
}

/**
 * Writes each part that applies to the same value as the one that holds it as a definition. The library compiles definitions by
 * themselves; otherwise it refuses an alternative that fits no value because of what stands beside it.
 */
const withPartsApart = (schema: JsonSchema): JsonSchema =>
  rewrite(schema, ({ prefixItems, ...others }, keyword, definitions) => {
    const { maxItems = Infinity } = others as { readonly maxItems?: number };
    const first = Array.isArray(prefixItems) ? prefixItems.slice(0, maxItems) : [];
    const part = first.length ? { ...others, prefixItems: first } : others;
    return sameValue.includes(keyword) ? { $ref: `#/$defs/${definitions.push(part) - 1}` } : part;
  });

/** Writes "number" as "number" or "integer". For the library neither is the other, and a value has no type that two parts name. */
function withIntegers(schema: JsonSchema): JsonSchema {
  const json = JSON.stringify(schema);
  if (!json.includes('"number"') || !json.includes('"integer"')) return schema;
  return rewrite(schema, (part) => {
    const types = [part['type']].flat();
    const isWritten = !types.includes('number') || types.includes('integer');
    return isWritten ? part : { ...part, type: [...types, 'integer'] };
  });
}

const definitionsIn = (schema: JsonSchema) =>
  (keywordsOf(schema)['$defs'] ?? {}) as Readonly<Record<string, unknown>>;

/**
 * Writes definitions that refer to themselves as `{ if: true, then: … }` in a schema with `unevaluatedProperties` or
 * `unevaluatedItems`. Version 1.3.0 reads what such a definition evaluates at each check, where only one with conditions records it.
 */
function withTracedLoops(schema: JsonSchema): JsonSchema {
  if (!/"unevaluated(?:Properties|Items)":/.test(JSON.stringify(schema))) return schema;
  const definitions = Object.values(definitionsIn(schema));
  const references = definitions.map(referencesIn);
  const traced = definitions.map((definition, number) => {
    const reached = new Set(references[number]);
    for (const one of reached) for (const next of references[one] ?? []) reached.add(next);
    const wrapped = [['if', true] as const, ['then', definition] as const];
    return [number, reached.has(number) ? Object.fromEntries(wrapped) : definition];
  });
  return traced.length ? { ...(schema as object), $defs: Object.fromEntries(traced) } : schema;
}

/** The numbers of the definitions that a part refers to. */
function referencesIn(part: unknown): ReadonlySet<number> {
  const found = new Set<number>();
  const rest = [part];
  while (rest.length) {
    const value = rest.pop();
    if (typeof value !== 'object' || value === null) continue;
    if ('$ref' in value) found.add(definitionOf(value.$ref));
    for (const one of Object.values(value)) rest.push(one);
  }
  return found;
}
