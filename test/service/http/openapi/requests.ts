import * as fc from 'fast-check';
import { allowedBy, changed, edgesOf, exampleOf } from './arbitraries.ts';
import type { DocumentedOperation, OpenApi, Parameter } from './openapi.ts';
import type { SchemaValidator } from './tools.ts';

/*
 * Requests to the operations of a document: what its schemas allow, and what they forbid.
 */

/** The parts of a request to an operation. */
export interface Parts {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** What a request is sent as. */
export interface Case {
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** The values that paths have, by the names of the parameters, unless a case says otherwise. */
export type PathValues = Readonly<Record<string, string>>;

export function caseOf({ path, requestBody }: DocumentedOperation, parts: Parts): Case {
  const segments = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parts.path[name] ?? ''),
  );
  const query = new URLSearchParams(parts.query).toString();
  const [type] = Object.keys(requestBody?.content ?? {});
  return {
    target: query ? `${segments}?${query}` : segments,
    headers: {
      ...(parts.body !== undefined && type !== undefined && { 'content-type': type }),
      ...parts.headers,
    },
    body: parts.body,
  };
}

export const ofKind = ({ parameters = [] }: DocumentedOperation, kind: Parameter['in']) =>
  parameters.filter((one) => one.in === kind);

const jsonSchema = ({ requestBody }: DocumentedOperation) => requestBody?.content['application/json']?.schema;

const texts = (parameters: readonly Parameter[], valueOf: (one: Parameter) => fc.Arbitrary<unknown>) =>
  fc
    .record(Object.fromEntries(parameters.map((one) => [one.name, valueOf(one).map(String)])), {
      requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name),
    })
    .map((found) => ({ ...found }));

/** The requests to one operation. */
export class Requests {
  readonly #document: OpenApi;
  readonly #operation: DocumentedOperation;
  readonly #values: PathValues;

  constructor(document: OpenApi, operation: DocumentedOperation, values: PathValues) {
    this.#document = document;
    this.#operation = operation;
    this.#values = values;
  }

  /** Requests that the document allows. Of `any` path, one in four names something else than the usual. */
  allowed(ofPath: 'usual' | 'any'): fc.Arbitrary<Parts> {
    const operation = this.#operation;
    const json = jsonSchema(operation);
    const body = json
      ? allowedBy(this.#document, json).map((value) => JSON.stringify(value))
      : operation.requestBody
        ? fc.string({ unit: 'grapheme' })
        : fc.constant(undefined);
    return fc.record({
      path: texts(ofKind(operation, 'path'), (one) =>
        fc.oneof(
          { weight: 3, arbitrary: fc.constant(this.#usual(one)) },
          {
            weight: ofPath === 'any' ? 1 : 0,
            arbitrary: this.#allowedValue(one).filter((value) => String(value).isWellFormed()),
          },
        ),
      ),
      query: texts(ofKind(operation, 'query'), (one) => this.#allowedValue(one)),
      // Node sends no others.
      headers: texts(ofKind(operation, 'header'), () =>
        fc.constantFrom('*', '"x"', 'W/"x"', 'text/event-stream'),
      ),
      body,
    });
  }

  /** Requests at the edges of what the document allows: each has one such value, and what else is needed. */
  atTheEdges(): Parts[] {
    const operation = this.#operation;
    const [plain] = fc.sample(this.allowed('usual'), { numRuns: 1, seed: 1 });
    if (!plain) return [];
    const required = ofKind(operation, 'query').filter((one) => one.required);
    const least = {
      ...plain,
      headers: {},
      query: Object.fromEntries(required.map(({ name }) => [name, plain.query[name] ?? ''])),
    };
    const json = jsonSchema(operation);
    return [
      least,
      ...ofKind(operation, 'query').flatMap(({ name, schema }) =>
        edgesOf(this.#document, schema).map((value) => ({
          ...least,
          query: { ...least.query, [name]: String(value) },
        })),
      ),
      ...(json ? edgesOf(this.#document, json) : []).map((value) => ({
        ...least,
        body: JSON.stringify(value),
      })),
    ];
  }

  /**
   * Requests of which one part is forbidden by the document; `undefined` where it forbids none. `fixed` are those whose wrong
   * values are always the same.
   */
  forbidden(validator: SchemaValidator): { random: fc.Arbitrary<Parts>; fixed: Parts[] } | undefined {
    const operation = this.#operation;
    const allowed = this.allowed('usual');
    const [plain] = fc.sample(allowed, { numRuns: 1, seed: 1 });
    const ways: ((parts: Parts) => Parts)[] = [];
    for (const one of operation.parameters ?? []) {
      const place = one.in;
      if (place === 'header') continue;
      const fits = validator.ofParameter(operation, one);
      const wrong = candidates.filter(
        (value) => !readings(value).some(fits) && (place !== 'path' || isSegment(value)),
      );
      for (const value of wrong) {
        ways.push((parts) => ({ ...parts, [place]: { ...parts[place], [one.name]: value } }));
      }
    }
    const json = jsonSchema(operation);
    if (json) {
      // No JSON at all, and none by its type.
      ways.push(
        (parts) => ({ ...parts, body: '{' }),
        (parts) => ({
          ...parts,
          body: parts.body ?? 'x',
          headers: { ...parts.headers, 'content-type': 'text/html' },
        }),
      );
      if (operation.requestBody?.required) ways.push((parts) => ({ ...parts, body: '' }));
    }
    const random = ways.length
      ? [fc.tuple(allowed, fc.constantFrom(...ways)).map(([parts, way]) => way(parts))]
      : [];
    if (json) {
      const fits = validator.ofBody(operation);
      const wrong = changed(allowedBy(this.#document, json)).filter((value) => !fits(value));
      random.push(
        fc.tuple(allowed, wrong).map(([parts, value]) => ({ ...parts, body: JSON.stringify(value) })),
      );
    }
    if (!random.length || !plain) return undefined;
    return { random: fc.oneof(...random), fixed: ways.map((way) => way(plain)) };
  }

  #usual(one: Parameter): string {
    return this.#values[one.name] ?? exampleOf(this.#document, one);
  }

  #allowedValue({ schema }: Parameter): fc.Arbitrary<unknown> {
    return allowedBy(this.#document, schema);
  }
}

/** What parameters of all kinds forbid, some by each. */
const candidates = ['', 'x', '-1', '0', '1.5', '1e9', 'null', 'maybe', 'x'.repeat(13_000), 'v1', '.x', 'x.'];

/** What a text in a path or a query can stand for. */
const readings = (text: string): unknown[] => [
  text,
  ...(text.trim() ? [Number(text)] : []),
  ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
];

/** Whether a text is a segment of a path that is short enough: another path is another operation. */
const isSegment = (value: string) => value !== '' && value.length < 1000;
