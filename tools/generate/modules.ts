import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type Class,
  type ClassElement,
  type Comment,
  type Declaration,
  type ParamPattern,
  type Span,
  parseSync,
} from 'oxc-parser';
import { recordType } from './record-fields.ts';

/** The modules without elements. What an earlier one also exports is described there, and only listed for the later one. */
const MODULES = ['client', 'server', 'editor'];

interface Entry {
  signature: string;
  doc: string;
  members: Entry[];
}

interface Source {
  path: string;
  text: string;
  comments: Comment[];
  body: ReturnType<typeof parseSync>['program']['body'];
}

const PREFACE = `# Reference of the modules without elements

Every export of \`client.js\`, \`server.js\` and \`editor.js\`, with its signature and its doc comment. [Clients](clients.md) shows how
to use them. A record of a response may have more fields than are listed, and keeps them. Times are ISO 8601.`;

/** The reference of the exports of these modules, with signatures and doc comments. */
export function moduleReference(): string {
  const modules = MODULES.map((module) => ({ module, exports: exportsOf(read(`src/${module}.ts`)) }));
  const sections = modules.map(({ module, exports }, at) => {
    const before = modules.slice(0, at).flatMap((earlier) => earlier.exports.map(({ name }) => name));
    const own = exports.filter(({ name }) => !before.includes(name));
    const again = exports.filter(({ name }) => before.includes(name)).map(({ name }) => `\`${name}\``);
    return [
      `## plugin-editor/${module}.js\n`,
      ...own.map(({ source, declaration }) => inList(describe(source, declaration))),
      ...(again.length > 0 ? [`- As in the modules above: ${again.join(', ')}`] : []),
    ].join('\n');
  });
  return [PREFACE, ...sections].join('\n\n');
}

const inList = ({ signature, doc, members }: Entry, indent = ''): string =>
  [
    `${indent}- \`${signature}\`${doc && `: ${doc}`}`,
    ...members.map((member) => inList(member, `${indent}  `)),
  ].join('\n');

function read(path: string): Source {
  const text = readFileSync(path, 'utf8');
  const { program, comments } = parseSync(path, text);
  return { path, text, comments, body: program.body };
}

interface Exported {
  name: string;
  source: Source;
  declaration: Declaration;
}

/** The exports of a module, in the order of its statements. Those of other files are looked up there. */
function exportsOf(source: Source): Exported[] {
  return source.body.flatMap((statement) => {
    if (statement.type === 'ExportAllDeclaration')
      throw new Error(`${source.path}: write "export { name } from" instead of "export * from".`);
    if (statement.type !== 'ExportNamedDeclaration') return [];
    const { declaration } = statement;
    if (declaration) return [{ name: nameOf(declaration), source, declaration }];
    if (!statement.source) throw new Error(`${source.path}: export each name where it is declared.`);
    const from = statement.source.value;
    const there = exportsOf(read(join(dirname(source.path), from)));
    return statement.specifiers.map(({ local }) => {
      const name = local.type === 'Identifier' ? local.name : '';
      const found = there.find((one) => one.name === name);
      if (!found) throw new Error(`${source.path} exports ${name}, which ${from} does not declare.`);
      return found;
    });
  });
}

function nameOf(declaration: Declaration): string {
  if (declaration.type === 'VariableDeclaration') {
    const [variable] = declaration.declarations;
    return variable?.id.type === 'Identifier' ? variable.id.name : '';
  }
  return 'id' in declaration && declaration.id && 'name' in declaration.id ? declaration.id.name : '';
}

/** An export and its members. */
function describe(source: Source, declaration: Declaration): Entry {
  const doc = docBefore(source, declaration);
  const generic = 'typeParameters' in declaration ? textOf(source, declaration.typeParameters) : '';
  const name = nameOf(declaration) + generic;
  const entry = (signature: string, members: Entry[] = []) => ({ signature, doc, members });
  switch (declaration.type) {
    case 'FunctionDeclaration':
      return entry(name + callOf(source, declaration));
    case 'ClassDeclaration': {
      const inherited = inheritedMembers(source, declaration);
      const base = inherited.length === 0 && declaration.superClass;
      return entry(`class ${name}${base ? ` extends ${textOf(source, base)}` : ''}`, [
        ...declaration.body.body.flatMap((member) => memberOf(source, declaration, member)),
        ...inherited,
      ]);
    }
    case 'TSInterfaceDeclaration':
      return entry(
        `interface ${name}${declaration.extends.map((one) => ` extends ${textOf(source, one)}`).join('')}`,
        declaration.body.body.map((member) => ({
          signature: textOf(source, member)
            .replace(/^readonly |;$/g, '')
            .replace(/(\?: .*?) \| undefined$/, '$1'),
          doc: docBefore(source, member),
          members: [],
        })),
      );
    case 'TSTypeAliasDeclaration': {
      const type = unionOf(source, textOf(source, declaration.typeAnnotation));
      const [, schema = ''] = /^z\.output<typeof (\w+)>$/.exec(type) ?? [];
      const record = recordType(schema);
      if (schema && !record)
        throw new Error(`${source.path}: the file of ${schema} must be among FILES in record-fields.ts.`);
      if (!record) return entry(`type ${name} = ${type}`);
      const docAt = ({ file, start }: { file: string; start: number }) =>
        docBefore(read(file), { start, end: start });
      return {
        signature: `interface ${name}`,
        doc: doc || docAt(record),
        members: record.fields.map((field) => ({
          signature: field.signature,
          doc: docAt(field),
          members: [],
        })),
      };
    }
    default:
      return entry(`const ${name}`);
  }
}

/** The type `(typeof list)[number]` as the union that it is; any other type as it is. */
function unionOf({ text }: Source, type: string): string {
  const [, list] = /^\(typeof (\w+)\)\[number\]$/.exec(type) ?? [];
  const [, items] = new RegExp(`const ${list} = \\[(.*?)\\] as const`, 's').exec(text) ?? [];
  return list && items ? flat(items).replace(/,$/, '').replaceAll(', ', ' | ') : type;
}

/** The module that a class's base class is imported from; `undefined` for a base class of the same module. */
function baseModule(source: Source, { superClass }: Class): string | undefined {
  const base = superClass?.type === 'Identifier' ? superClass.name : undefined;
  const found = source.body.find(
    (statement) =>
      statement.type === 'ImportDeclaration' && statement.specifiers.some(({ local }) => local.name === base),
  );
  return found?.type === 'ImportDeclaration' ? found.source.value : undefined;
}

/** The members that a class inherits from an imported base class, with the class's own type arguments. */
function inheritedMembers(source: Source, declaration: Class): Entry[] {
  const path = baseModule(source, declaration);
  if (!path) return [];
  const name = textOf(source, declaration.superClass);
  const base = exportsOf(read(join(dirname(source.path), path))).find((one) => one.name === name);
  if (base?.declaration.type !== 'ClassDeclaration') return [];
  const { body, typeParameters } = base.declaration;
  const given = declaration.superTypeArguments?.params ?? [];
  const types = (typeParameters?.params ?? []).map((parameter, i) => ({
    name: textOf(base.source, parameter.name),
    type: given[i] ? textOf(source, given[i]) : textOf(base.source, parameter.default),
  }));
  return body.body
    .filter((member) => member.type === 'MethodDefinition' && member.kind !== 'constructor')
    .flatMap((member) => memberOf(base.source, declaration, member))
    .map((member) => ({
      ...member,
      signature: types
        .reduce(
          (signature, { name: parameter, type }) =>
            signature.replaceAll(new RegExp(`\\b${parameter}\\b`, 'g'), type),
          member.signature,
        )
        .replaceAll(' & object', ''),
    }));
}

/**
 * A public member with a doc comment; none otherwise. Constructors of errors are left out, because only this package calls them.
 */
function memberOf(source: Source, declaration: Class, member: ClassElement): Entry[] {
  const { id, superClass } = declaration;
  if (!('key' in member) || member.key.type !== 'Identifier') return [];
  const doc = docBefore(source, member);
  const { name } = member.key;
  const entry = (signature: string) => (doc ? [{ signature, doc, members: [] }] : []);
  if (member.type === 'PropertyDefinition')
    return entry(name + (member.optional ? '?' : '') + textOf(source, member.typeAnnotation));
  if (member.type !== 'MethodDefinition') return [];
  if (member.kind === 'get') return entry(name + textOf(source, member.value.returnType));
  if (member.kind === 'constructor')
    return superClass && !baseModule(source, declaration)
      ? []
      : entry(`new ${id?.name}${callOf(source, member.value)}`);
  return entry(name + callOf(source, member.value));
}

interface Callable {
  params: readonly ParamPattern[];
  returnType?: Span | null;
}

const callOf = (source: Source, { params, returnType }: Callable) =>
  `(${parameters(source, params)})${textOf(source, returnType)}`;

/** The parameters of a signature, such as `{ a, b? }: Type`, without their defaults. */
function parameters(source: Source, params: readonly ParamPattern[]): string {
  return params
    .map((param) => {
      const optional = param.type === 'AssignmentPattern' ? '?' : '';
      const pattern = param.type === 'AssignmentPattern' ? param.left : param;
      if (pattern.type !== 'ObjectPattern') return textOf(source, pattern);
      const names = pattern.properties.map((property) => {
        if (property.type !== 'Property' || property.key.type !== 'Identifier') return '…';
        return property.key.name + (property.value.type === 'AssignmentPattern' ? '?' : '');
      });
      return `{ ${names.join(', ')} }${optional}${textOf(source, pattern.typeAnnotation)}`;
    })
    .join(', ');
}

const textOf = ({ text }: Source, span: Span | null | undefined) =>
  span ? flat(text.slice(span.start, span.end)) : '';

/** A piece of source on one line, without comments. */
const flat = (text: string) =>
  text
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/,? (?=[)>](?!=))/g, '')
    .replaceAll(/([(<]) /g, '$1')
    .trim();

/** The first paragraph of the doc comment before a piece of source, and its `@throws`; links are only names. */
function docBefore({ comments, text }: Source, { start }: Span): string {
  const comment = comments.findLast(
    (one) =>
      one.end <= start && /^\s*(export\s+)?$/.test(text.slice(one.end, start)) && one.value.startsWith('*'),
  );
  const parts = (comment?.value.slice(1) ?? '')
    .replaceAll(/^\s*\* ?/gm, '')
    .trim()
    .split(/^(?=@)/m);
  const throws = parts.find((tag) => tag.startsWith('@throws'));
  const [first = ''] = (parts[0]?.startsWith('@') ? '' : (parts[0] ?? '')).split(/\n\s*\n/);
  const doc = `${first} ${throws ? `Throws ${throws.slice('@throws '.length)}` : ''}`;
  return flat(doc).replaceAll(/\{@link (\w+)\}/g, '`$1`');
}
