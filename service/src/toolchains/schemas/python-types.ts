import type { JsonSchema } from '../../plugins/schemas.ts';
import { pythonString } from '../source-text.ts';
import { definitionOf } from './endless-references.ts';
import type { LinkedSchema } from './link-schema.ts';
import { keywordsOf } from './read-schema.ts';

/*
 * Makes Python's types of schemas: a `TypedDict` for each object, and `type` aliases. Every value that fits a schema is of its type;
 * where Python cannot express a schema, the type is wider. Texts of a schema are written as literals, in comments or not at all, so
 * that no schema can write code.
 */

type Keywords = Readonly<Record<string, unknown>>;

/** How many values of an `enum` are listed one by one. */
const maxLiterals = 100;

/** How deep objects in one another get a type. */
const deepest = 12;

/** The types of the input and output of a namespace. A missing schema stands for any JSON. */
export function declarePythonTypes(
  input: LinkedSchema | undefined,
  output: LinkedSchema | undefined,
): string {
  const declared = [
    ['Input', input],
    ['Output', output],
  ] as const;
  const body = declared
    .map(([name, linked]) =>
      linked ? new PythonTypes(name, linked).write() : `# Any JSON.\ntype ${name} = Any\n`,
    )
    .join('\n\n');
  const words = new Set(body.split(/\W+/));
  const used = ['Any', 'Literal', 'NotRequired', 'TypedDict'].filter((name) => words.has(name));
  return `${used.length ? `from typing import ${used.join(', ')}\n\n\n` : ''}${body}`;
}

class PythonTypes {
  readonly #name: string;
  readonly #schema: JsonSchema;
  readonly #definitions: readonly unknown[];
  readonly #definitionNames: readonly string[];
  readonly #used: Set<string>;
  readonly #declared: string[] = [];

  constructor(name: string, { schema, names }: LinkedSchema) {
    this.#name = name;
    this.#schema = schema;
    this.#used = new Set([name]);
    const definitions = keywordsOf(schema)['$defs'] as Readonly<Record<string, unknown>> | undefined;
    this.#definitions = names.map((_, i) => definitions?.[String(i)]);
    this.#definitionNames = names.map((given, i) => this.#freeName(name, given ?? `Part${i + 1}`));
  }

  write(): string {
    this.#declare(this.#name, this.#schema);
    for (const [i, one] of this.#definitions.entries()) this.#declare(this.#definitionNames[i] ?? '', one);
    return this.#declared.join('\n\n');
  }

  #freeName(prefix: string, given: string): string {
    const base = `${prefix}${pascalCase(given) || 'Part'}`;
    let free = base;
    for (let n = 2; this.#used.has(free); n++) free = `${base}${n}`;
    this.#used.add(free);
    return free;
  }

  #declare(name: string, schema: unknown): void {
    const keywords = keywordsOf(schema);
    if (isNamedObject(keywords)) this.#declareObject(name, keywords, 0);
    else {
      // Reserved first, so that a type stands before those that it refers to.
      const at = this.#declared.push('') - 1;
      this.#declared[at] = `${commentOf(keywords, '')}type ${name} = ${this.#type(schema, name, 0)}\n`;
    }
  }

  #type(schema: unknown, name: string, depth: number): string {
    if (typeof schema === 'boolean' || depth > deepest) return 'Any';
    const keywords = keywordsOf(schema);
    const isCombined = ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) => has(keywords, keyword));
    const own = this.#ownType(keywords, name, depth);
    if (!isCombined || own !== 'Any') return own;
    if (has(keywords, '$ref')) return this.#definitionNames[definitionOf(keywords['$ref'])] ?? 'Any';
    for (const keyword of ['oneOf', 'anyOf']) {
      if (!has(keywords, keyword)) continue;
      return unionOf(
        listOf(keywords[keyword]).map((one, i) => this.#type(one, `${name}${i + 1}`, depth + 1)),
      );
    }
    // A value fits all parts. The type of one of them is wide enough.
    for (const [i, one] of listOf(keywords['allOf']).entries()) {
      const type = this.#type(one, `${name}${i + 1}`, depth + 1);
      if (type !== 'Any') return type;
    }
    return 'Any';
  }

  /** The type by the keywords of a part, without its references and combinations. */
  #ownType(keywords: Keywords, name: string, depth: number): string {
    if (has(keywords, 'const')) return literalsOf([keywords['const']]);
    if (has(keywords, 'enum')) return literalsOf(listOf(keywords['enum']));
    if (isNamedObject(keywords)) return this.#declareObject(this.#freeName('', name), keywords, depth);
    const types = typesOf(keywords);
    if (!types) return 'Any';
    return unionOf(
      types.map((type) => {
        switch (type) {
          case 'string':
            return 'str';
          case 'integer':
            return 'int';
          case 'number':
            return 'float';
          case 'boolean':
            return 'bool';
          case 'null':
            return 'None';
          case 'array': {
            if (has(keywords, 'prefixItems') || !has(keywords, 'items')) return 'list[Any]';
            return `list[${this.#type(keywords['items'], `${name}Item`, depth + 1)}]`;
          }
          case 'object': {
            if (has(keywords, 'properties')) {
              return this.#declareObject(this.#freeName('', name), keywords, depth);
            }
            const others = has(keywords, 'patternProperties') ? true : keywords['additionalProperties'];
            return `dict[str, ${this.#type(others ?? true, `${name}Value`, depth + 1)}]`;
          }
          default:
            return 'Any';
        }
      }),
    );
  }

  #declareObject(name: string, keywords: Keywords, depth: number): string {
    const at = this.#declared.push('') - 1;
    const required = new Set(listOf(keywords['required']).map(String));
    const properties = Object.entries(mapOf(keywords['properties']));
    const fields = properties.map(([key, schema]) => {
      const type = this.#type(schema, `${name}${pascalCase(key) || 'Part'}`, depth + 1);
      return {
        key,
        type: required.has(key) ? type : `NotRequired[${type}]`,
        comment: commentOf(keywordsOf(schema), '    '),
      };
    });
    const comment = commentOf(keywords, '');
    const isPlain = fields.every(({ key }) => isIdentifier(key));
    if (isPlain) {
      const lines = fields.map((field) => `${field.comment}    ${field.key}: ${field.type}\n`);
      this.#declared[at] = `${comment}class ${name}(TypedDict):\n${lines.join('') || '    pass\n'}`;
    } else {
      // Names that are no identifiers. The types are texts, because those that they name may stand below.
      const lines = fields.map(
        (field) => `${field.comment}    ${pythonString(field.key)}: ${quotedType(field.type)},\n`,
      );
      this.#declared[at] = `${comment}${name} = TypedDict(${pythonString(name)}, {\n${lines.join('')}})\n`;
    }
    return name;
  }
}

/** Whether a part is an object with named properties, and nothing else. */
const isNamedObject = (keywords: Keywords) =>
  has(keywords, 'properties') &&
  !has(keywords, 'const') &&
  !has(keywords, 'enum') &&
  (typesOf(keywords) ?? []).join() === 'object';

/** A type as a text, in which quotes need no escapes where that is possible. */
const quotedType = (type: string) =>
  type.includes('"') && !/['\\]/.test(type) ? `'${type}'` : pythonString(type);

function typesOf(keywords: Keywords): readonly string[] | undefined {
  if (!has(keywords, 'type')) return undefined;
  return (Array.isArray(keywords['type']) ? keywords['type'] : [keywords['type']]).map(String);
}

function literalsOf(values: readonly unknown[]): string {
  const isShort = values.length > 0 && values.length <= maxLiterals;
  const written = values.map((value) => {
    if (typeof value === 'string') return pythonString(value);
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    if (value === null) return 'None';
    return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;
  });
  return isShort && written.every((one) => one !== undefined)
    ? `Literal[${[...new Set(written)].join(', ')}]`
    : 'Any';
}

function unionOf(types: readonly string[]): string {
  const some = [...new Set(types)];
  return !some.length || some.includes('Any') ? 'Any' : some.join(' | ');
}

const has = (keywords: Keywords, keyword: string) => Object.hasOwn(keywords, keyword);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const mapOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

const reserved = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

// Two underscores would be mangled in a class.
const isIdentifier = (name: string) => /^(?!__)[A-Za-z_]\w*$/.test(name) && !reserved.has(name);

const pascalCase = (name: string) =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
    .slice(0, 60);

/** The comment of a part, with its line breaks; empty where it has no title and no description. */
function commentOf({ title, description }: Keywords, indent: string): string {
  return [title, description]
    .filter((text) => typeof text === 'string')
    .flatMap((text) =>
      text
        .slice(0, 2000)
        .toWellFormed()
        .split(/\r\n?|[\n\u2028\u2029]/),
    )
    .map((line) => `${indent}# ${line.replace(/\p{C}/gu, ' ').trim()}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
}
