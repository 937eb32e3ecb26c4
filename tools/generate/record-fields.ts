import { globSync, readFileSync } from 'node:fs';
import { type Expression, type ObjectPropertyKind, parseSync } from 'oxc-parser';

/** Where the schemas of answers are. */
const FILES = ['src/core/records.ts', ...globSync('src/{core/client,server}/*-records.ts').toSorted()];

/** What `src/core/fields.ts` names. */
const FIELDS: Readonly<Record<string, string>> = {
  text: 'string',
  optionalText: 'string?',
  textOrNull: 'string | null',
  flag: 'boolean',
  number: 'number',
  optionalNumber: 'number?',
};

/** One field of a record, and where the doc comment before it would be. */
export interface RecordField {
  signature: string;
  file: string;
  start: number;
}

/** A record, and where the doc comment of its schema would be. */
export interface RecordType {
  file: string;
  start: number;
  fields: RecordField[];
}

interface Declared {
  file: string;
  start: number;
  value: Expression;
}

const schemas = new Map<string, Declared>();
/** The types that users import, by the schema that each is made from. */
const types = new Map<string, string>();
for (const file of FILES) {
  const text = readFileSync(file, 'utf8');
  for (const [, type = '', schema = ''] of text.matchAll(/^export type (\w+) = z\.output<typeof (\w+)>/gm))
    types.set(schema, type);
  for (const statement of parseSync(file, text).program.body) {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declaration?.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declaration.declarations)
      if (id.type === 'Identifier' && init)
        schemas.set(id.name, { file, start: statement.start, value: init });
  }
}

/** The record that is typed from this schema; nothing for what is no object. */
export function recordType(schema: string): RecordType | undefined {
  const declared = schemas.get(schema);
  const fields = declared ? fieldsOf(declared.file, declared.value) : [];
  return declared && fields.length > 0 ? { ...declared, fields } : undefined;
}

/** The fields of an object of schemas, of a schema that is made of one, or of what has one of their names. */
function fieldsOf(file: string, value: Expression): RecordField[] {
  if (value.type === 'Identifier') return recordType(value.name)?.fields ?? [];
  if (value.type === 'CallExpression') {
    const [shape] = value.arguments;
    return shape && shape.type !== 'SpreadElement' ? fieldsOf(file, shape) : [];
  }
  if (value.type !== 'ObjectExpression') return [];
  return value.properties.flatMap((property) => fieldOf(file, property));
}

function fieldOf(file: string, property: ObjectPropertyKind): RecordField[] {
  if (property.type === 'SpreadElement') {
    // Another's fields: those of a constant, or of a schema by its `shape`.
    const { argument } = property;
    const from = argument.type === 'MemberExpression' ? argument.object : argument;
    return fieldsOf(file, from);
  }
  const { key, value, start } = property;
  const name = key.type === 'Identifier' ? key.name : '…';
  const type = typeOf(value);
  const signature = type.endsWith('?') ? `${name}?: ${type.slice(0, -1)}` : `${name}: ${type}`;
  return [{ signature, file, start }];
}

/** A type as TypeScript writes it; a question mark ends that of a field that may be missing. */
function typeOf(value: Expression): string {
  if (value.type === 'Identifier') return namedType(value.name);
  if (value.type !== 'CallExpression') return 'unknown';
  const { callee, arguments: args } = value;
  const name =
    callee.type === 'Identifier'
      ? callee.name
      : callee.type === 'MemberExpression' && callee.property.type === 'Identifier'
        ? callee.property.name
        : '';
  const [first] = args;
  const inner = () => (first && first.type !== 'SpreadElement' ? typeOf(first) : 'unknown');
  switch (name) {
    case 'optional':
      return `${inner()}?`;
    case 'array':
      return `${inner()}[]`;
    case 'orNull':
      return `${inner()} | null`;
    case 'looseObject': {
      const fields = fieldsOf('', value).map(({ signature }) => signature);
      return `{ ${fields.join('; ')} }`;
    }
    default:
      // `text.check(…)`, which takes no other type.
      return callee.type === 'MemberExpression' && name === 'check' ? typeOf(callee.object) : 'unknown';
  }
}

function namedType(name: string): string {
  const known = FIELDS[name] ?? types.get(name);
  if (known) return known;
  const declared = schemas.get(name);
  return declared ? typeOf(declared.value) : 'unknown';
}
