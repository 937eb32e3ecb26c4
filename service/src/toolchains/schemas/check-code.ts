import { createRequire } from 'node:module';
import type { JsonSchema } from '../../plugins/schemas.ts';

/*
 * Makes of a schema the function that checks values by it, as source. Used in a process of its own alone, as the schema is of a
 * stranger's making; and what it makes runs in a VM alone.
 */

interface Library {
  readonly validator: (schema: JsonSchema, options: object) => { toModule(options: object): string };
}

interface LibraryFunctions {
  pointerPart: (key: string | number) => string;
  toPointer: (path: readonly (string | number)[]) => string;
}

const options = {
  // As the specification says, and not as schemas that are written by hand had better be.
  mode: 'spec',
  $schemaDefault: 'https://json-schema.org/draft/2020-12/schema',
  includeErrors: true,
  isJSON: true,
  unmodifiedPrototypes: true,
  formatAssertion: false,
  contentValidation: false,
};

/**
 * Loads the library that makes the functions. What it is used for answers an expression: a list of the function, which says
 * whether a value fits and has `errors` where it does not, and of the schema as JSON, which tells what these are about.
 */
export function loadCheckMaker(): (schema: JsonSchema) => string {
  const require = createRequire(import.meta.url);
  const functions = require('@exodus/schemasafe/src/scope-functions') as LibraryFunctions;
  // Version 1.3.0 escapes "~" and "/" in a key only where one follows the other. Its compiler takes these two when it is
  // loaded, and writes the first into what it makes, so that it refers to nothing else.
  functions.pointerPart = (key) => `${key}`.replace(/~/g, '~0').replace(/\//g, '~1');
  functions.toPointer = (path) => (path.length ? `#/${path.map(functions.pointerPart).join('/')}` : '#');
  const { validator } = require('@exodus/schemasafe') as Library;
  return (schema) => {
    const check = validator(schema, options).toModule({ semi: false });
    return `[${check}, ${JSON.stringify(JSON.stringify(schema))}]`;
  };
}
