import { readFileSync } from 'node:fs';
import { type Expression, type ObjectPropertyKind, parseSync } from 'oxc-parser';

/** The files with the schemas of responses. */
const FILES = [
  'src/core/records.ts',
  'src/core/client/records.ts',
  'src/server/environment-records.ts',
  'src/server/connection-records.ts',
  'src/server/library-records.ts',
  'src/server/webhook-records.ts',
];

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

/** The record that a schema describes; `undefined` where that is not an object. */
export function recordType(schema: string): RecordType | undefined {
  const declared = schemas.get(schema);
  const fields = declared ? fieldsOf(declared.file, declared.value) : [];
  return declared && fields.length > 0 ? { ...declared, fields } : undefined;
}

/** The fields of an object of schemas, of a schema that is made of such an object, or of one that is referred to by name. */
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
    // The fields of a constant, or the `shape` of another schema.
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

/** The type of a schema in TypeScript. That of a field that may be missing ends in a question mark. */
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
    case 'string':
    case 'number':
    case 'boolean':
      return name;
    case 'optional':
      return `${inner()}?`;
    case 'array':
      return `${inner()}[]`;
    case 'nullable':
      return `${inner()} | null`;
    case 'looseObject': {
      const fields = fieldsOf('', value).map(({ signature }) => signature);
      return `{ ${fields.join('; ')} }`;
    }
    default:
      // `z.string().check(…)` has the same type as `z.string()`.
      return callee.type === 'MemberExpression' && name === 'check' ? typeOf(callee.object) : 'unknown';
  }
}

function namedType(name: string): string {
  const known = types.get(name);
  if (known) return known;
  const declared = schemas.get(name);
  return declared ? typeOf(declared.value) : 'unknown';
}
