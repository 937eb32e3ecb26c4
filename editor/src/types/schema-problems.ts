import { type OutputUnit, Validator } from '@cfworker/json-schema';
import { texts } from '../locales/locale.ts';
import { type Path, type Schema, isRecord, pathOf, partsOf, typeLabel } from './schema.ts';

/** Something in a value that does not fit its schema. */
export interface SchemaProblem {
  path: Path;
  message: string;
}

/** More are not listed: what is wrong in every entry of a list is understood by the first few. */
const MOST = 50;

/** These say that one of the keywords inside them failed, and that one says what is wrong. */
const OUTER: ReadonlySet<string> = new Set([
  '$ref',
  '$dynamicRef',
  'allOf',
  'properties',
  'patternProperties',
  'items',
  'prefixItems',
  'additionalProperties',
  'additionalItems',
  'unevaluatedProperties',
  'unevaluatedItems',
  'dependentSchemas',
  'if',
  'then',
  'else',
  'propertyNames',
]);

/** These failed as a whole, however each of their alternatives did. */
const GROUPS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'not', 'contains']);

/** Keywords that set a limit: of what, and on which side. */
const BOUNDS: Readonly<Record<string, { of: 'size' | 'length' | 'entries'; sign: string }>> = {
  minimum: { of: 'size', sign: '≥' },
  maximum: { of: 'size', sign: '≤' },
  exclusiveMinimum: { of: 'size', sign: '>' },
  exclusiveMaximum: { of: 'size', sign: '<' },
  minLength: { of: 'length', sign: '≥' },
  maxLength: { of: 'length', sign: '≤' },
  minItems: { of: 'entries', sign: '≥' },
  maxItems: { of: 'entries', sign: '≤' },
};

/**
 * Checks values against a schema by walking through it, as the page's policy allows no script that is made from text. Its
 * word is for whoever types; what counts is the service's.
 */
export class SchemaCheck {
  readonly #schema: Schema;
  #validator: Validator | undefined;

  constructor(schema: Schema) {
    this.#schema = schema;
    try {
      // The library writes into what it is given.
      const copy = structuredClone(schema);
      this.#validator = new Validator(copy, '2020-12', false);
    } catch {
      // Of a schema that this library cannot read, the service alone knows what fits.
    }
  }

  problems(value: unknown): SchemaProblem[] {
    let errors: OutputUnit[];
    try {
      errors = this.#validator?.validate(value).errors ?? [];
    } catch {
      return [];
    }
    const groups = errors
      .filter(({ keyword }) => GROUPS.has(keyword))
      .map(({ keywordLocation }) => keywordLocation);
    const found = errors.filter(
      ({ keyword, keywordLocation }) =>
        !OUTER.has(keyword) &&
        !groups.some((group) => keywordLocation !== group && keywordLocation.startsWith(`${group}/`)),
    );
    const problems = found.map((error) => this.#problem(error));
    const seen = new Set<string>();
    return problems
      .filter(({ path, message }) => {
        const key = JSON.stringify([path, message]);
        return !seen.has(key) && seen.add(key);
      })
      .slice(0, MOST);
  }

  #problem({ keyword, keywordLocation, instanceLocation, error }: OutputUnit): SchemaProblem {
    const words = texts().types.problems;
    const path = pathOf(decode(instanceLocation));
    const schema = this.#schemaAt(keywordLocation);
    const limit = schema && String(schema[keyword]);
    const bound = Object.hasOwn(BOUNDS, keyword) ? BOUNDS[keyword] : undefined;
    if (bound) return { path, message: words[bound.of](`${bound.sign} ${limit ?? ''}`) };
    switch (keyword) {
      case 'type':
      case 'enum':
      case 'const':
        return { path, message: words.type(schema ? typeLabel([schema]) : '') };
      case 'required': {
        const [, name = ''] = /"(.*)"/s.exec(error) ?? [];
        return { path, message: words.missing(name) };
      }
      case 'false':
        return { path, message: words.unknown };
      case 'pattern':
        return { path, message: words.pattern(limit ?? '') };
      case 'format':
        return { path, message: words.format(limit ?? '') };
      default:
        return { path, message: GROUPS.has(keyword) ? words.alternatives : words.other(keyword) };
    }
  }

  /** The schema that a keyword is in; its place goes through references. */
  #schemaAt(keywordLocation: string): Record<string, unknown> | undefined {
    let place: unknown = this.#schema;
    for (const part of pathOf(decode(keywordLocation)).slice(0, -1)) {
      if (part === '$ref' && isRecord(place)) {
        // The first part is the place itself, and the second what it refers to.
        place = partsOf(this.#schema, { $ref: place['$ref'] })[1];
      } else if (Array.isArray(place)) {
        place = place[Number(part)];
      } else {
        place = isRecord(place) && Object.hasOwn(place, part) ? place[part] : undefined;
      }
    }
    return isRecord(place) ? place : undefined;
  }
}

function decode(location: string): string {
  try {
    return decodeURIComponent(location);
  } catch {
    return location;
  }
}
