import type { Direction } from '../../plugins/schemas.ts';
import { formats } from './formats.ts';
import { knownKeywords } from './keywords.ts';
import type { References } from './references.ts';
import { keywordsOf, placeIn } from './read-schema.ts';
import type { Place, SchemaDocument, SchemaNode } from './read-schema.ts';

/** Something that is legal in a schema, and probably not what its author meant. */
export interface SchemaWarning {
  readonly place: Place;
  readonly message: string;
}

/** How many warnings a schema gets at most. */
export const maxWarnings = 50;

/** The longest text of the schema that a message quotes, in UTF-16 code units. */
const longestQuote = 60;

/** Finds unknown keywords and formats, and parts of an input that allow properties that they do not name. */
export function findWarnings(
  direction: Direction,
  { document, references }: { readonly document: SchemaDocument; readonly references: References },
): SchemaWarning[] {
  const found: SchemaWarning[] = [];
  const open = direction === 'input' ? openParts(document.root, references) : new Set();
  for (const node of document.nodes) {
    const keywords = keywordsOf(node.schema);
    if (open.has(node)) {
      const message =
        'allows properties that it does not name, so that a misspelled one is accepted: set "additionalProperties": false, or true if you mean it';
      found.push({ place: node.place, message });
    }
    for (const [keyword, value] of Object.entries(keywords)) {
      if (found.length >= maxWarnings) return found.slice(0, maxWarnings);
      const place = placeIn(node.place, keyword);
      if (keyword === 'format' && !Object.hasOwn(formats, value as string)) {
        const known = Object.keys(formats).join(', ');
        found.push({
          place,
          message: `${quoted(value as string)} is not checked; the formats that are: ${known}`,
        });
      } else if (!isMeant(keyword)) {
        const meant = nearestKeyword(keyword);
        const advice = meant === undefined ? '' : `; did you mean "${meant}"?`;
        found.push({
          place,
          message: `${quoted(keyword)} is not a keyword of JSON Schema 2020-12, and is ignored${advice}`,
        });
      }
    }
  }
  return found.slice(0, maxWarnings);
}

const quoted = (text: string) =>
  JSON.stringify(text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text);

/** Whether a keyword is one, or an extension by its form: `x-…`, or one for generators of TypeScript, such as `tsType`. */
const isMeant = (keyword: string) =>
  knownKeywords.has(keyword) || keyword.startsWith('x-') || /^ts[A-Z]/.test(keyword);

/** Keywords that say how the other properties of a value are treated. */
const closing = ['additionalProperties', 'unevaluatedProperties', 'patternProperties', 'propertyNames'];

/** Keywords whose schemas describe further values, or alternatives for the same one. */
const described = ['properties', 'items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf'];

/** The parts that name properties and allow others. Parts of an `allOf` are left out: each of them has to allow the others'. */
function openParts(root: SchemaNode, references: References): ReadonlySet<SchemaNode> {
  const open = new Set<SchemaNode>();
  const seen = new Set([root]);
  const visit = (node: SchemaNode) => seen.add(node);
  for (const node of seen) {
    const keywords = keywordsOf(node.schema);
    const isClosed = closing.some((keyword) => Object.hasOwn(keywords, keyword));
    if (Object.hasOwn(keywords, 'properties') && !isClosed && !Object.hasOwn(keywords, 'allOf'))
      open.add(node);
    for (const keyword of described) {
      const child = node.children.get(keyword);
      // Beside properties, alternatives are parts of the same object, as those of an `allOf` are.
      if (!child || (keyword.endsWith('Of') && (isClosed || Object.hasOwn(keywords, 'properties')))) continue;
      if (child instanceof Map)
        for (const one of (child as ReadonlyMap<string, SchemaNode>).values()) visit(one);
      else visit(child as SchemaNode);
    }
    const { ref } = references.of(node);
    if (ref && !isClosed && !Object.hasOwn(keywords, 'properties')) visit(ref);
  }
  return open;
}

/** The keyword that was probably meant: the one with the fewest differences, at most two and fewer than half. */
function nearestKeyword(keyword: string): string | undefined {
  if (keyword.length > 30) return undefined;
  let nearest: string | undefined;
  let least = Math.min(3, keyword.length / 2);
  for (const known of knownKeywords) {
    const distance = differences(keyword.toLowerCase(), known.toLowerCase());
    if (distance < least) [nearest, least] = [known, distance];
  }
  return nearest;
}

/** How many characters have to be added, removed or replaced to make one text of another. */
function differences(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 0; i < from.length; i += 1) {
    const next = [i + 1];
    for (let n = 0; n < to.length; n += 1) {
      const replaced = (row[n] ?? 0) + (from[i] === to[n] ? 0 : 1);
      next.push(Math.min(replaced, (row[n + 1] ?? 0) + 1, (next[n] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
