import { createRequire } from 'node:module';
import type { JsonSchema } from '../../plugins/schemas.ts';
import { definitionOf } from './endless-references.ts';
import { formats } from './formats.ts';
import { keywordsOf } from './read-schema.ts';

/*
 * Makes the source of a function that validates values by a schema. Because anybody may have written the schema, this is only
 * used in a separate process, and the function only runs in the sandbox's engine.
 */

interface Library {
  readonly validator: (schema: JsonSchema, options: object) => { toModule(options: object): string };
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
  const { validator } = require('@exodus/schemasafe') as Library;
  return (linked) => {
    const schema = withTracedLoops(linked);
    const check = validator(schema, options).toModule({ semi: false });
    const json = JSON.stringify(schema);
    const used = Object.entries(formats).filter(([name]) => json.includes(`"format":"${name}"`));
    const functionsOf = used.map(([name, format]) => `${JSON.stringify(name)}: ${String(format)}`).join();
    return `[${check}, ${JSON.stringify(json)}, {${functionsOf}}]`;
  };
}

/**
 * Writes definitions that refer to themselves as `{ if: true, then: … }` in a schema with `unevaluatedProperties` or
 * `unevaluatedItems`. Version 1.3.0 reads what such a definition evaluates at each check, where only one with conditions records it.
 */
function withTracedLoops(schema: JsonSchema): JsonSchema {
  if (!/"unevaluated(?:Properties|Items)":/.test(JSON.stringify(schema))) return schema;
  const definitions = Object.values((keywordsOf(schema)['$defs'] ?? {}) as Readonly<Record<string, unknown>>);
  const references = definitions.map(referencesIn);
  const traced = definitions.map((definition, number) => {
    const reached = new Set(references[number]);
    for (const one of reached) for (const next of references[one] ?? []) reached.add(next);
    return reached.has(number) ? { if: true, then: definition } : definition;
  });
  return traced.length ? { ...(schema as object), $defs: { ...traced } } : schema;
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
