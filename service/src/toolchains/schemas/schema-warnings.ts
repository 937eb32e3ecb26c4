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
const maxWarnings = 50;

/** The longest text of the schema that a message quotes, in UTF-16 code units. */
const longestQuote = 60;

/** Finds unknown keywords and formats, and parts of an input that allow properties that they do not name. */
export function findWarnings(
  direction: Direction,
  { document, references }: { readonly document: SchemaDocument; readonly references: References },
): SchemaWarning[] {
  const found: SchemaWarning[] = [];
  const open = direction === 'input' ? openParts(document.root, references) : undefined;
  for (const node of document.nodes) {
    const keywords = keywordsOf(node.schema);
    const missing = open?.get(node);
    if (missing) {
      const message = `allows properties that it does not name, so that a misspelled one is accepted: set "${missing}": false, or true if you mean it`;
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
const closing = ['additionalProperties', 'unevaluatedProperties', 'propertyNames'];

/** Keywords whose schemas describe further values, or alternatives for the same one. */
const described = ['properties', 'items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf'];

/** Keywords that describe the same value as the part that they stand in. */
const beside = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'];

/** How many parts that describe one value are looked at. */
const maxPartsOfValue = 200;

/** The parts that name properties and allow others, each with the keyword that would refuse those. */
function openParts(root: SchemaNode, references: References): ReadonlyMap<SchemaNode, string> {
  const open = new Map<SchemaNode, string>();
  const seen = new Set([root]);
  for (const node of seen) {
    const parts = partsOfValue(node, references);
    const has = (keyword: string) => parts.some((part) => Object.hasOwn(keywordsOf(part.schema), keyword));
    const isClosed = closing.some(has);
    const isOpen = !isClosed && has('properties');
    if (isOpen) open.set(node, beside.some(has) ? 'unevaluatedProperties' : 'additionalProperties');
    for (const part of parts) {
      for (const keyword of described) {
        // Beside properties, alternatives are parts of the same object.
        if (keyword.endsWith('Of') && (isClosed || isOpen)) continue;
        const child = part.children.get(keyword);
        if (child instanceof Map)
          for (const one of (child as ReadonlyMap<string, SchemaNode>).values()) seen.add(one);
        else if (child) seen.add(child as SchemaNode);
      }
    }
    const { ref } = references.of(node);
    if (ref && !isClosed && !isOpen) seen.add(ref);
  }
  return open;
}

/** A part, and those that hold for the same value: of its `allOf`, and what these and it refer to beside other keywords. */
function partsOfValue(node: SchemaNode, references: References): SchemaNode[] {
  const isOwn = ['properties', 'allOf'].some((keyword) => Object.hasOwn(keywordsOf(node.schema), keyword));
  if (!isOwn) return [node];
  const parts = new Set([node]);
  for (const part of parts) {
    if (parts.size > maxPartsOfValue) break;
    const all = part.children.get('allOf') as ReadonlyMap<string, SchemaNode> | undefined;
    for (const one of all?.values() ?? []) parts.add(one);
    const { ref } = references.of(part);
    if (ref) parts.add(ref);
  }
  return [...parts];
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
