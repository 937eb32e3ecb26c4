import { ensureSyntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { Path } from './schema.ts';

type Tree = NonNullable<ReturnType<typeof ensureSyntaxTree>>;
type Node = Tree['topNode'];

/** A part of the text. */
type Range = Readonly<{ from: number; to: number }>;

/** How long a text may take to parse, in ms. */
const PARSE_TIME = 100;

const treeOf = (state: EditorState): Tree | undefined =>
  ensureSyntaxTree(state, state.doc.length, PARSE_TIME) ?? undefined;

/** The value of a string literal, which need not be closed. */
function stringOf(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text.replace(/^"/, '').replace(/"$/, '');
  }
}

const nameOf = (property: Node, state: EditorState): string | undefined => {
  const name = property.getChild('PropertyName');
  return name ? stringOf(state.sliceDoc(name.from, name.to)) : undefined;
};

const isValue = ({ name }: Node) => !/^[[\]{},:]$|^PropertyName$|^⚠$/.test(name);

function entries(array: Node): Node[] {
  const found: Node[] = [];
  for (let child = array.firstChild; child; child = child.nextSibling) if (isValue(child)) found.push(child);
  return found;
}

/** Where in the text a value is, or the innermost one around it that is there. */
export function placeOf(state: EditorState, path: Path): Range | undefined {
  let value = treeOf(state)?.topNode.firstChild;
  let name: Node | null = null;
  for (const part of path) {
    if (!value) break;
    if (value.name === 'Object') {
      const property = value.getChildren('Property').findLast((one) => nameOf(one, state) === part);
      if (!property) break;
      name = property.getChild('PropertyName');
      value = property.lastChild && isValue(property.lastChild) ? property.lastChild : null;
    } else if (value.name === 'Array') {
      const entry: Node | undefined = entries(value)[Number(part)];
      if (!entry) break;
      name = null;
      value = entry;
    } else {
      break;
    }
  }
  const isLarge = !value || value.name === 'Object' || value.name === 'Array';
  // Instead of a whole object, its name is marked, or its first character.
  if (isLarge && name) return { from: name.from, to: name.to };
  if (!value) return undefined;
  return { from: value.from, to: isLarge ? value.from + 1 : value.to };
}

/** The first place that the grammar of JSON cannot read. */
export function syntaxPlace(state: EditorState): Range {
  let from = state.doc.length;
  treeOf(state)?.iterate({
    enter: (node) => {
      if (node.type.isError && node.from < from) from = node.from;
    },
  });
  const end = state.doc.length;
  return from < end ? { from, to: from + 1 } : { from: Math.max(0, end - 1), to: end };
}

/** What the user is writing at a place. */
export interface Cursor extends Range {
  /** For a name the path of its object; for a value its own. */
  path: Path;
  /** A property's name, or a value. */
  kind: 'name' | 'value';
  /** For a name: the other names in the object, and whether a value follows. */
  present: readonly string[];
  hasValue: boolean;
}

/** What the user is writing at a place; `undefined` where neither a name nor a value can be. */
export function cursorAt(state: EditorState, at: number): Cursor | undefined {
  const tree = treeOf(state);
  if (!tree) return undefined;
  let node = tree.resolveInner(at, -1);
  const word = wordAround(state, at);
  // Punctuation and errors count as parts of the node that they are in.
  while ((node.type.isError || /^[[\]{},:]$/.test(node.name)) && node.parent) node = node.parent;
  if (node.name === 'PropertyName') {
    const object = node.parent?.parent;
    const value = node.parent?.lastChild;
    return object ? nameCursor(state, object, node, Boolean(value && isValue(value))) : undefined;
  }
  if (/^(String|Number|True|False|Null)$/.test(node.name) && at > node.from) {
    return isAfterString(state, node, at) ? undefined : valueCursor(pathTo(state, node), node);
  }
  // Between two tokens, the one before says what can follow.
  const before = state.sliceDoc(0, word.from).trimEnd().at(-1);
  if (before === ':') {
    const property = lastProperty(tree.resolveInner(word.from, -1));
    const name = property && nameOf(property, state);
    const object = property?.parent;
    return name === undefined || !object ? undefined : valueCursor([...pathTo(state, object), name], word);
  }
  if (node.name === 'Object' && at > node.from && (before === '{' || before === ',')) {
    return nameCursor(state, node, word, false);
  }
  if (node.name === 'Array' && at > node.from && (before === '[' || before === ',')) {
    const index = entries(node).filter(({ to }) => to < word.from).length;
    return valueCursor([...pathTo(state, node), String(index)], word);
  }
  return node.name === 'JsonText' && before === undefined ? valueCursor([], word) : undefined;
}

const valueCursor = (path: Path, { from, to }: Range): Cursor => ({
  path,
  kind: 'value',
  from,
  to,
  present: [],
  hasValue: false,
});

/** Whether a place is right after the closing quote of a string, where there is nothing to complete. */
const isAfterString = (state: EditorState, { name, from, to }: Node, at: number): boolean =>
  name === 'String' && at === to && to - from > 1 && state.sliceDoc(to - 1, to) === '"';

function nameCursor(state: EditorState, object: Node, { from, to }: Range, hasValue: boolean): Cursor {
  const present = object
    .getChildren('Property')
    .filter((property) => property.from !== from)
    .flatMap((property) => nameOf(property, state) ?? []);
  return { path: pathTo(state, object), kind: 'name', from, to, present, hasValue };
}

function lastProperty(start: Node): Node | undefined {
  for (let node: Node | null = start; node; node = node.parent) if (node.name === 'Property') return node;
  return undefined;
}

/** The word or the open string that a place is in. */
function wordAround(state: EditorState, at: number): Range {
  const line = state.doc.lineAt(at);
  const charAt = (place: number) => line.text.charAt(place - line.from);
  const isWord = (character: string) => /^[\w-]$/.test(character);
  let [from, to] = [at, at];
  while (isWord(charAt(from - 1))) from--;
  while (isWord(charAt(to))) to++;
  if (charAt(from - 1) !== '"') return { from, to };
  return { from: from - 1, to: charAt(to) === '"' ? to + 1 : to };
}

/** The path of a value in the text. */
function pathTo(state: EditorState, start: Node): string[] {
  const path: string[] = [];
  for (let node: Node | null = start; node; node = node.parent) {
    const { parent }: Node = node;
    if (parent?.name === 'Array') {
      const { from } = node;
      path.unshift(String(entries(parent).findIndex((entry) => entry.from === from)));
    } else if (parent?.name === 'Property') {
      path.unshift(nameOf(parent, state) ?? '');
    }
  }
  return path;
}
