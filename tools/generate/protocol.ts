import { readFileSync } from 'node:fs';
import { type TSType, parseSync } from 'oxc-parser';

/** A message of the frame protocol, as the documentation describes it. */
export interface ProtocolMessage {
  from: 'editor' | 'launcher';
  type: string;
  /** Names of fields, `session` first where there is one. The name of an optional field ends in a question mark. */
  fields: string[];
  doc: string;
}

const PATH = 'src/core/messages.ts';

/** Every message of both sides, as the two interfaces in `messages.ts` declare them. */
export function messagesOf(): ProtocolMessage[] {
  const text = readFileSync(PATH, 'utf8');
  const { program, comments } = parseSync(PATH, text);
  const interfaces = new Map(
    program.body.flatMap((statement) =>
      statement.type === 'ExportNamedDeclaration' && statement.declaration?.type === 'TSInterfaceDeclaration'
        ? [[statement.declaration.id.name, statement.declaration] as const]
        : [],
    ),
  );
  const nameOf = (span: { start: number; end: number }) =>
    text.slice(span.start, span.end).replaceAll("'", '');

  /** The names of the fields of an interface of this file, or of a type that is written out. */
  const fieldsOf = (type: TSType | undefined): string[] => {
    if (type?.type === 'TSTypeLiteral') return type.members.flatMap((member) => propertyOf(member));
    if (type?.type !== 'TSTypeReference') return [];
    // A change of settings has the fields of the settings.
    return fieldsOfInterface(nameOf(type.typeName).replace(/Change$/, ''));
  };
  const propertyOf = (member: { type: string; start: number }): string[] =>
    member.type === 'TSPropertySignature' && 'key' in member
      ? [nameOf(member.key as never) + ('optional' in member && member.optional ? '?' : '')]
      : [];
  const fieldsOfInterface = (name: string): string[] => {
    const declaration = interfaces.get(name);
    if (!declaration) throw new Error(`${PATH} has no interface ${name}`);
    return [
      ...declaration.body.body.flatMap(propertyOf),
      ...declaration.extends.flatMap(({ expression }) => fieldsOfInterface(nameOf(expression))),
    ];
  };

  return (['editor', 'launcher'] as const).flatMap((from) => {
    const name = from === 'editor' ? 'EditorMessages' : 'LauncherMessages';
    return (interfaces.get(name)?.body.body ?? []).flatMap((member) => {
      if (member.type !== 'TSPropertySignature') return [];
      const type = nameOf(member.key);
      const comment = comments.findLast((one) => one.end <= member.start);
      const doc = (comment?.value ?? '').replaceAll(/^\*|\s*\n\s*\*\s*/g, ' ').trim();
      const fields = fieldsOf(member.typeAnnotation?.typeAnnotation);
      return [{ from, type, fields: type === 'hello' ? fields : ['session', ...fields], doc }];
    });
  });
}
