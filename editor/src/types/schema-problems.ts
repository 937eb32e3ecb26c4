import { type OutputUnit, format as libraryFormats, Validator } from '@cfworker/json-schema';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { formats } from './formats.ts';
import {
  type Path,
  type Schema,
  decodePointer,
  isRecord,
  pathOf,
  pathText,
  partsOf,
  typeLabel,
} from './schema.ts';

/** Something in a value that does not fit its schema. */
export interface SchemaProblem {
  path: Path;
  message: string;
}

// The library looks formats up in this object. A payload has to be checked here as the service checks it.
Object.setPrototypeOf(libraryFormats, null);
for (const name of Object.keys(libraryFormats)) delete libraryFormats[name];
Object.assign(libraryFormats, formats);

/** Patterns for a text of one line. */
const ONE_LINE: ReadonlySet<string> = new Set(['^[^\\r\\n]*$', '^[^\\n\\r]*$', '^[^\\n]*$', '^.*$']);

/** How many problems are listed at most: one that is in every entry of a list is understood by the first few. */
const MAX_PROBLEMS = 50;

/** Keywords that fail when a keyword inside them does. That one is the problem, so these are not listed. */
const OUTER: ReadonlySet<string> = new Set(
  (
    '$ref $dynamicRef allOf properties patternProperties items prefixItems additionalProperties additionalItems ' +
    'unevaluatedProperties unevaluatedItems dependentSchemas if then else propertyNames'
  ).split(' '),
);

/** Keywords that fail as a whole: the failures of their alternatives are not listed. */
const GROUPS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'not', 'contains']);

/** How far a failure keeps a value from an alternative, by its keyword; any other counts 1. */
const WEIGHTS: Readonly<Record<string, number>> = {
  const: 50,
  enum: 50,
  type: 20,
  anyOf: 5,
  oneOf: 5,
  required: 2,
};
/** That of an alternative for values of another type. */
const OTHER = 1000;

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
 * Checks values against a schema while the user types; the service checks them again. It interprets the schema, because the
 * page's policy forbids the code that validators generate from one.
 */
export class SchemaCheck {
  readonly #schema: Schema;
  #validator: Validator | undefined;

  constructor(schema: Schema) {
    this.#schema = schema;
    try {
      // The library changes the schema that it is given.
      const copy = structuredClone(schema);
      this.#validator = new Validator(copy, '2020-12', false);
    } catch {
      // Without a validator nothing is found here; the service still checks.
    }
  }

  problems(value: unknown): SchemaProblem[] {
    let errors: OutputUnit[];
    try {
      errors = this.#validator?.validate(value).errors ?? [];
    } catch {
      return [];
    }
    const problems = this.#outermost(errors).map((error) => this.#problem(error, errors));
    const seen = new Set<string>();
    return problems
      .filter(({ path, message }) => {
        const key = JSON.stringify([path, message]);
        return !seen.has(key) && seen.add(key);
      })
      .slice(0, MAX_PROBLEMS);
  }

  /** The failures that are problems, without those within a group. */
  #outermost(errors: readonly OutputUnit[]): OutputUnit[] {
    const groups = errors
      .filter(({ keyword }) => GROUPS.has(keyword))
      .map(({ keywordLocation }) => keywordLocation);
    return errors.filter(
      ({ keyword, keywordLocation }) =>
        !OUTER.has(keyword) &&
        !groups.some((group) => keywordLocation !== group && keywordLocation.startsWith(`${group}/`)),
    );
  }

  /** Says which alternative comes nearest, and what keeps the value out of it, as the service does; `undefined` where one fits. */
  #nearest({ keyword, keywordLocation, instanceLocation }: OutputUnit, errors: readonly OutputUnit[]) {
    const alternatives = this.#schemaAt(keywordLocation)?.[keyword];
    if (!Array.isArray(alternatives)) return undefined;
    // Entries of a list have their schema's place in common.
    const within = errors.filter((one) => `${one.instanceLocation}/`.startsWith(`${instanceLocation}/`));
    const all = (alternatives as Schema[]).map((schema, index) => {
      const failures = this.#outermost(
        within.filter((one) => one.keywordLocation.startsWith(`${keywordLocation}/${index}/`)),
      );
      const isOther = failures.some(
        (one) => ['type', 'const', 'enum'].includes(one.keyword) && one.instanceLocation === instanceLocation,
      );
      const weight = failures.reduce((sum, one) => sum + (WEIGHTS[one.keyword] ?? 1), 0);
      return { schema, index, failures, isOther, weight: isOther ? OTHER : weight };
    });
    if (all.some(({ failures }) => !failures.length)) return undefined;
    const words = texts().types.problems;
    if (all.every(({ isOther }) => isOther)) {
      const labels = all.map(({ schema }) => typeLabel(partsOf(this.#schema, schema)));
      return words.type(labels.every(Boolean) ? [...new Set(labels)].join(' | ') : '');
    }
    const { schema, index, failures } = all.reduce((best, one) => (one.weight < best.weight ? one : best));
    const [failure] = failures;
    if (!failure) return undefined;
    const { path, message } = this.#problem(failure, errors);
    const place = pathText(path.slice(pathOf(decodePointer(instanceLocation)).length));
    const title = isRecord(schema) ? schema['title'] : undefined;
    const form = typeof title === 'string' ? title : words.form(formatNumber(index + 1));
    return words.nearest(form, place ? `${place} ${message}` : message);
  }

  #problem(failure: OutputUnit, errors: readonly OutputUnit[]): SchemaProblem {
    const { keyword, keywordLocation, instanceLocation, error } = failure;
    const words = texts().types.problems;
    const path = pathOf(decodePointer(instanceLocation));
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
        return { path, message: ONE_LINE.has(limit ?? '') ? words.oneLine : words.pattern(limit ?? '') };
      case 'format':
        return { path, message: words.format(limit ?? '') };
      case 'anyOf':
      case 'oneOf':
        return { path, message: this.#nearest(failure, errors) ?? words.alternatives };
      default:
        return { path, message: GROUPS.has(keyword) ? words.alternatives : words.other(keyword) };
    }
  }

  /** The schema that a keyword is in; its place goes through references. */
  #schemaAt(keywordLocation: string): Record<string, unknown> | undefined {
    let place: unknown = this.#schema;
    for (const part of pathOf(decodePointer(keywordLocation)).slice(0, -1)) {
      if (part === '$ref' && isRecord(place)) {
        // The first part is the reference itself, the second the schema that it refers to.
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
