import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  snippet,
} from '@codemirror/autocomplete';
import { cursorAt } from './json-tree.ts';
import {
  type Schema,
  type SchemaParts,
  descriptionOf,
  memberParts,
  propertiesOf,
  requiredOf,
  schemasAt,
  typeLabel,
  typesOf,
  valuesOf,
} from './schema.ts';

/** Offers the names and the values that a schema has at a place in a JSON text. */
export const completeJson =
  (schema: () => Schema | undefined) =>
  ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const root = schema();
    const cursor = root === undefined ? undefined : cursorAt(state, pos);
    if (root === undefined || !cursor) return null;
    const { path, kind, from, to, present, hasValue } = cursor;
    const typed = state.sliceDoc(from, pos);
    if (!explicit && !typed) return null;
    const parts = schemasAt(root, path);
    const options = kind === 'name' ? names(root, parts, present, hasValue) : values(root, parts);
    return options.length ? { from, to, options, filter: true } : null;
  };

function names(
  root: Schema,
  parts: SchemaParts,
  present: readonly string[],
  hasValue: boolean,
): Completion[] {
  const required = requiredOf(parts);
  return propertiesOf(parts)
    .filter((name) => !present.includes(name))
    .map((name) => {
      const inner = memberParts(root, parts, name);
      const written = JSON.stringify(name);
      return {
        label: written,
        type: 'property',
        detail: typeLabel(inner),
        ...infoOf(inner),
        // Required properties come first.
        boost: required.has(name) ? 1 : 0,
        apply: hasValue ? written : snippet(`${escaped(written)}: ${valueSnippet(inner)}`),
      };
    });
}

function values(root: Schema, parts: SchemaParts): Completion[] {
  const named = valuesOf(parts);
  const types = typesOf(parts);
  const plain = [
    ...named,
    ...(types.includes('boolean') && !named.length ? ['true', 'false'] : []),
    ...(types.includes('null') && !named.includes('null') ? ['null'] : []),
  ].map((label): Completion => ({ label, type: 'constant', ...infoOf(parts) }));
  if (!types.includes('object')) return plain;
  const lines = Array.from(
    requiredOf(parts),
    (name) => `\t${escaped(JSON.stringify(name))}: ${valueSnippet(memberParts(root, parts, name))}`,
  );
  // An object with its required properties.
  const whole = snippet(lines.length ? `{\n${lines.join(',\n')}\n}` : '{#{}}');
  return [...plain, { label: '{ … }', type: 'interface', ...infoOf(parts), apply: whole }];
}

/** The snippet of a value, with a field to type over. */
function valueSnippet(parts: SchemaParts): string {
  const [value, second] = valuesOf(parts);
  if (value !== undefined && second === undefined) return escaped(value);
  if (value?.startsWith('"')) return '"#{}"';
  const [type] = typesOf(parts);
  return { string: '"#{}"', object: '{#{}}', array: '[#{}]' }[type ?? ''] ?? '#{}';
}

const infoOf = (parts: SchemaParts): { info?: string } => {
  const info = descriptionOf(parts);
  return info === undefined ? {} : { info };
};

/** Escapes what would be a field of a snippet: a brace after `#` or `$`. */
const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll(/([#$])(?=\{)/g, '$1\\');
