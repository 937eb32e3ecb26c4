import type { JsonSchema } from '../../plugins/schemas.ts';
import { definitionOf } from './endless-references.ts';
import type { LinkedSchema } from './link-schema.ts';
import type { TypeName } from './keywords.ts';
import { keywordsOf } from './read-schema.ts';
import { commentOf, propertyName } from './typescript-text.ts';
import { stringLiteral } from '../source-text.ts';

/*
 * Makes TypeScript types of schemas. Every value that fits a schema is of its type; where TypeScript cannot express a schema, the
 * type is wider. Texts of a schema are written as literals or left out, so that no schema can write code.
 */

type Keywords = Readonly<Record<string, unknown>>;

/** How many alternatives an intersection of unions may have. With more, TypeScript fails to compute the type. */
const maxAlternatives = 256;

/** How many values an `enum` may list one by one. */
const maxLiterals = 1000;

/**
 * The declarations of a type and of those that it refers to.
 * @param name of the type. The names of the others begin with it
 */
export function declareTypes(name: string, { schema, names }: LinkedSchema): string {
  return new Declarations(name, schema, names).write();
}

class Declarations {
  readonly #name: string;
  readonly #schema: JsonSchema;
  readonly #typeNames: readonly string[];
  readonly #definitions: readonly unknown[];
  readonly #alternatives = new Map<number, number>();

  constructor(name: string, schema: JsonSchema, names: readonly (string | undefined)[]) {
    this.#name = name;
    this.#schema = schema;
    const defs = keywordsOf(schema)['$defs'] as Readonly<Record<string, unknown>> | undefined;
    this.#definitions = names.map((_, i) => defs?.[String(i)]);
    const used = new Set([name]);
    this.#typeNames = names.map((given, i) => {
      const base = `${name}${pascalCase(given ?? '') || `Part${i + 1}`}`;
      let free = base;
      for (let n = 2; used.has(free); n++) free = `${base}${n}`;
      used.add(free);
      return free;
    });
  }

  write(): string {
    const declared = [this.#declare(this.#name, this.#schema)];
    for (const [i, one] of this.#definitions.entries()) {
      declared.push(this.#declare(this.#typeNames[i] ?? '', one));
    }
    return declared.join('');
  }

  #declare(name: string, schema: unknown): string {
    return `${commentOf(keywordsOf(schema), '')}type ${name} = ${this.#type(schema, '')};\n`;
  }

  /** The type of a schema. `indent`: that of the line in which the type stands. */
  #type(schema: unknown, indent: string): string {
    if (typeof schema === 'boolean') return schema ? 'unknown' : 'never';
    const keywords = keywordsOf(schema);
    const parts: { readonly type: string; readonly alternatives: number }[] = [];
    const own = this.#ownType(keywords, indent);
    if (own.type !== 'unknown') parts.push(own);
    if (has(keywords, '$ref')) {
      const number = definitionOf(keywords['$ref']);
      const type = this.#typeNames[number];
      if (type !== undefined) parts.push({ type, alternatives: this.#alternativesOf(number) });
    }
    for (const one of listOf(keywords['allOf'])) {
      const type = this.#type(one, indent);
      if (type !== 'unknown') parts.push({ type: grouped(type), alternatives: this.#count(one, 0) });
    }
    for (const keyword of ['anyOf', 'oneOf']) {
      if (!has(keywords, keyword)) continue;
      const options = [...new Set(listOf(keywords[keyword]).map((one) => this.#type(one, indent)))];
      if (options.includes('unknown')) continue;
      const count = listOf(keywords[keyword]).reduce<number>((sum, one) => sum + this.#count(one, 0), 0);
      parts.push({ type: unionOf(options), alternatives: count });
    }
    let room = maxAlternatives;
    const kept = parts.filter(({ alternatives }, i) => {
      // A single union may be of any length.
      if (i > 0 && alternatives > 1 && alternatives > room) return false;
      room = Math.floor(room / Math.max(1, alternatives));
      return true;
    });
    const types = [...new Set(kept.map(({ type }) => type))];
    if (types.length < 2) return types[0] ?? 'unknown';
    return types.map(grouped).join(' & ');
  }

  /** About how many alternatives a type has. TypeScript multiplies these numbers in an intersection. */
  #count(schema: unknown, depth: number): number {
    const keywords = keywordsOf(schema);
    if (depth > 20) return maxAlternatives;
    let count = has(keywords, 'type') ? typesOf(keywords).length : 1;
    if (has(keywords, 'enum')) count = Math.max(1, listOf(keywords['enum']).length);
    if (has(keywords, '$ref')) count *= this.#alternativesOf(definitionOf(keywords['$ref']));
    for (const one of listOf(keywords['allOf'])) count *= this.#count(one, depth + 1);
    for (const keyword of ['anyOf', 'oneOf']) {
      const options = listOf(keywords[keyword]);
      if (options.length) count *= options.reduce<number>((sum, one) => sum + this.#count(one, depth + 1), 0);
    }
    return Math.min(count, 1e6);
  }

  #alternativesOf(number: number): number {
    const known = this.#alternatives.get(number);
    if (known !== undefined) return known;
    this.#alternatives.set(number, maxAlternatives);
    const count = this.#count(this.#definitions[number], 0);
    this.#alternatives.set(number, count);
    return count;
  }

  /** The type by the keywords of a part, without its references and combinations. */
  #ownType(keywords: Keywords, indent: string): { type: string; alternatives: number } {
    if (has(keywords, 'const')) return { type: literalOf(keywords['const']), alternatives: 1 };
    const listed = has(keywords, 'enum') ? listOf(keywords['enum']) : undefined;
    if (listed && listed.length <= maxLiterals) {
      return {
        type: listed.length ? unionOf([...new Set(listed.map(literalOf))]) : 'never',
        alternatives: listed.length,
      };
    }
    const types = typesOf(keywords);
    const isAboutObjects = aboutObjects.some((keyword) => has(keywords, keyword));
    const isAboutArrays = ['items', 'prefixItems'].some((keyword) => has(keywords, keyword));
    if (types.length === allTypes.length && !isAboutObjects && !isAboutArrays)
      return { type: 'unknown', alternatives: 1 };
    const written = types.map((type) => {
      switch (type) {
        case 'object':
          return this.#objectType(keywords, indent);
        case 'array':
          return this.#arrayType(keywords, indent);
        default:
          return type;
      }
    });
    return { type: unionOf([...new Set(written)]), alternatives: written.length };
  }

  #objectType(keywords: Keywords, indent: string): string {
    const properties = mapOf(keywords['properties']);
    const required = new Set(listOf(keywords['required']).map(String));
    const patterns = Object.values(mapOf(keywords['patternProperties']));
    const inner = `${indent}  `;
    const others = this.#otherProperties(keywords, patterns, inner);
    const lines: string[] = [];
    // The type of an index signature has to include the types of the named properties.
    const all = new Set(others === undefined ? [] : [others]);
    for (const [name, schema] of Object.entries(properties)) {
      // For TypeScript, every object has a property of such a name, such as `toString`, with the type from its library.
      const isInherited = name in {} && !required.has(name);
      const type = isInherited ? 'unknown' : this.#type(schema, inner);
      all.add(type);
      if (!required.has(name)) all.add('undefined');
      const mark = required.has(name) ? '' : '?';
      lines.push(`${commentOf(keywordsOf(schema), inner)}${inner}${propertyName(name)}${mark}: ${type};\n`);
    }
    for (const name of required) {
      if (Object.hasOwn(properties, name)) continue;
      lines.push(`${inner}${propertyName(name)}: ${others ?? 'unknown'};\n`);
    }
    if (others !== undefined) {
      const type = all.has('unknown') ? 'unknown' : unionOf([...all]);
      if (!lines.length && !patterns.length) return `{ [key: string]: ${type} }`;
      lines.push(`${inner}[key: string]: ${type};\n`);
    }
    return lines.length ? `{\n${lines.join('')}${indent}}` : '{ [key: string]: never }';
  }

  /** The type of properties without a name; `undefined` where there can be none. */
  #otherProperties(keywords: Keywords, patterns: readonly unknown[], indent: string): string | undefined {
    const isClosed = keywords['additionalProperties'] === false || isWhollyEvaluated(keywords);
    const types = patterns.map((one) => this.#type(one, indent));
    if (!isClosed) {
      const rest = has(keywords, 'additionalProperties') ? keywords['additionalProperties'] : true;
      types.push(this.#type(rest, indent));
    }
    if (types.includes('unknown')) return 'unknown';
    return types.length ? unionOf([...new Set(types)]) : undefined;
  }

  #arrayType(keywords: Keywords, indent: string): string {
    const first = listOf(keywords['prefixItems']);
    const rest = has(keywords, 'items') ? this.#type(keywords['items'], indent) : 'unknown';
    if (!first.length) return keywords['items'] === false ? '[]' : `${grouped(rest)}[]`;
    const least = typeof keywords['minItems'] === 'number' ? keywords['minItems'] : 0;
    const items = first.map((one, i) => `${grouped(this.#type(one, indent))}${i < least ? '' : '?'}`);
    if (keywords['items'] !== false) items.push(`...${grouped(rest)}[]`);
    return `[${items.join(', ')}]`;
  }
}

const aboutObjects = ['properties', 'required', 'additionalProperties', 'patternProperties'];

/** Whether `unevaluatedProperties: false` forbids all properties without a name, because nothing beside it evaluates others. */
const isWhollyEvaluated = (keywords: Keywords) =>
  keywords['unevaluatedProperties'] === false &&
  !['additionalProperties', '$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'].some((keyword) =>
    has(keywords, keyword),
  );

/** The types of JSON by their names in schemas, without `integer`, which TypeScript does not distinguish from `number`. */
const allTypes: readonly string[] = ['string', 'number', 'boolean', 'null', 'array', 'object'];

/** The types of the keyword `type`; without it all of them. */
function typesOf(keywords: Keywords): readonly string[] {
  if (!has(keywords, 'type')) return allTypes;
  const given = Array.isArray(keywords['type']) ? keywords['type'] : [keywords['type']];
  return [...new Set((given as readonly TypeName[]).map(tsName))];
}

const tsName = (type: TypeName) => (type === 'integer' ? 'number' : type);

const has = (keywords: Keywords, keyword: string) => Object.hasOwn(keywords, keyword);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const mapOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/** A type in parentheses, where it needs them beside another operator. */
const grouped = (type: string) => (/^[\w$]+$|^\{[^{}]*\}$|^"[^"\\]*"$/.test(type) ? type : `(${type})`);

const unionOf = (types: readonly string[]) => {
  const some = types.filter((type) => type !== 'never');
  if (!some.length) return 'never';
  return some.length === 1
    ? (some[0] ?? 'never')
    : some.map((type) => (/[&|?]/.test(type) ? grouped(type) : type)).join(' | ');
};

/** The literal type of a JSON value. */
function literalOf(value: unknown): string {
  if (typeof value === 'string') return stringLiteral(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'number';
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const properties = Object.entries(value).map(([key, one]) => `${propertyName(key)}: ${literalOf(one)}`);
  return properties.length ? `{ ${properties.join('; ')} }` : '{ [key: string]: never }';
}

/**
 * Matches characters that are not used in names of types: those that no identifier may have, and scripts that Unicode still adds
 * letters to, because TypeScript's compiler may know an older version of Unicode than this engine.
 */
const notInNames =
  /[^\p{ID_Continue}]+|[^\0-\u086f\u0900-\u0bff\u0e00-\u10ff\u3040-\u318f\u4e00-\u9fef\uac00-\ud7a3]+/u;

const pascalCase = (name: string) =>
  name
    .split(notInNames)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
    .slice(0, 60);
