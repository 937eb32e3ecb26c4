import type { JsonSchema } from '../../plugins/schemas.ts';
import { formats } from './formats.ts';
import { assertions, typeOfKeyword } from './keywords.ts';
import type { TypeName } from './keywords.ts';
import { InvalidSchemaError, keywordsOf, SchemaDocument } from './read-schema.ts';
import type { Pattern, Place, Resource, SchemaNode } from './read-schema.ts';
import { refuseEndlessLoops } from './endless-references.ts';
import { References } from './references.ts';

/**
 * A schema whose references all have the form `#/$defs/<number>`, so that its readers need not know about URIs, anchors and
 * dynamic scopes, and cannot look for anything outside of it.
 */
export interface LinkedSchema {
  readonly schema: JsonSchema;
  /** The former names of the definitions, by their numbers; `undefined` for one that had none. */
  readonly names: readonly (string | undefined)[];
  /** Where the definitions are in the schema that was linked, by their numbers. */
  readonly places: readonly Place[];
}

/**
 * How many parts a linked schema may have, and how many characters they may have together. Only dynamic references can make a
 * linked schema larger than the original; the anchors of each new scope count as parts, too.
 */
const maxParts = 20_000;
const maxCharacters = 2 ** 20;

/**
 * Reads a schema and resolves its references. Throws an {@link InvalidSchemaError} for an invalid part, and for a reference to
 * anything that is not in the schema. The target of a dynamic reference depends on the path by which it is reached: the parts
 * around it are written out once for each such path that differs.
 */
export function linkSchema(schema: JsonSchema): LinkedSchema & {
  readonly patterns: readonly Pattern[];
  readonly document: SchemaDocument;
  readonly references: References;
} {
  const document = new SchemaDocument(schema);
  const references = new References(document);
  return { ...new Linker(references).link(document), patterns: document.patterns, document, references };
}

/** Whether a linked schema keeps a keyword that holds no subschemas. A format that is not checked is an annotation. */
const isAssertion = (keyword: string, value: unknown) =>
  assertions.has(keyword) && (keyword !== 'format' || Object.hasOwn(formats, value as string));

/** The dynamic scope of a path through the schema: the first part on it with an anchor of a name is the target for that name. */
interface Scope {
  /** Identifies the scope: equal scopes are one object with one number. */
  readonly number: number;
  readonly anchors: ReadonlyMap<string, SchemaNode>;
  /** The scopes that entering further resources leads to. */
  readonly entered: Map<Resource, Scope>;
}

class Linker {
  readonly #references: References;
  readonly #numbers = new Map<string, number>();
  readonly #definitions: unknown[] = [];
  readonly #names: (string | undefined)[] = [];
  /** The definitions that are still to be written. A queue and no recursion, because a chain of them may be very long. */
  readonly #queue: { readonly number: number; readonly node: SchemaNode; readonly scope: Scope }[] = [];
  readonly #places: Place[] = [];
  /** All scopes, by the numbers of their anchors' targets. */
  readonly #scopes = new Map<string, Scope>();
  /** The lengths of parts without their subschemas, in characters; computed on demand. */
  readonly #lengths = new Map<SchemaNode, number>();
  #parts = 0;
  #characters = 0;

  constructor(references: References) {
    this.#references = references;
  }

  link({ root }: SchemaDocument): LinkedSchema {
    const schema = this.#part(root, this.#enter(this.#scopeOf(new Map()), root));
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      this.#definitions[next.number] = this.#written(next.node, next.scope);
    }
    refuseEndlessLoops(this.#definitions, this.#places);
    if (!this.#definitions.length) return { schema: schema as JsonSchema, names: [], places: [] };
    const $defs = Object.fromEntries(this.#definitions.map((one, i) => [String(i), one]));
    return { schema: { ...(schema as object), $defs }, names: this.#names, places: this.#places };
  }

  /** The scope after entering the resource of a part: its dynamic anchors are added, unless their names are already taken. */
  #enter(scope: Scope, { place, resource }: SchemaNode): Scope {
    const known = scope.entered.get(resource);
    if (known) return known;
    const added = [...resource.dynamicAnchors].filter(
      ([name]) => this.#references.dynamicNames.has(name) && !scope.anchors.has(name),
    );
    const anchors = new Map([...scope.anchors, ...added]);
    // Counted, because there may be many paths, and many anchors on each of them.
    if (added.length) this.#spend(place, anchors.size, 0);
    const entered = added.length ? this.#scopeOf(anchors) : scope;
    scope.entered.set(resource, entered);
    return entered;
  }

  #scopeOf(anchors: ReadonlyMap<string, SchemaNode>): Scope {
    // A part has at most one dynamic anchor, so that the targets determine the names.
    const key = [...anchors.values()]
      .map(({ number }) => number)
      .toSorted((a, b) => a - b)
      .join();
    let scope = this.#scopes.get(key);
    if (!scope) this.#scopes.set(key, (scope = { number: this.#scopes.size, anchors, entered: new Map() }));
    return scope;
  }

  /** Counts what is written. Throws when it is too much. */
  #spend(place: Place, parts: number, characters: number): void {
    this.#parts += parts;
    this.#characters += characters;
    const past = (what: string) =>
      new InvalidSchemaError(
        place,
        `the schema has more than ${what} once dynamic references are written out`,
      );
    if (this.#parts > maxParts) throw past(`${maxParts} parts`);
    if (this.#characters > maxCharacters) throw past(`${maxCharacters} characters`);
  }

  /** A reference to a definition, which is queued to be written unless it already was. */
  #reference(target: SchemaNode, scope: Scope): { readonly $ref: string } {
    const within = this.#enter(scope, target);
    const key = `${within.number} ${target.number}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#definitions.length;
      this.#numbers.set(key, number);
      this.#definitions.push(true);
      this.#names.push(nameOf(target));
      this.#places.push(target.place);
      this.#queue.push({ number, node: target, scope: within });
    }
    return { $ref: `#/$defs/${number}` };
  }

  /** A part: a reference to its definition where it is a target, else the part itself. */
  #part(node: SchemaNode, scope: Scope): unknown {
    return this.#references.targets.has(node) ? this.#reference(node, scope) : this.#written(node, scope);
  }

  #written(node: SchemaNode, outer: Scope): unknown {
    this.#spend(node.place, 1, this.#lengthOf(node));
    if (typeof node.schema === 'boolean') return node.schema;
    const scope = this.#enter(outer, node);
    const keywords = keywordsOf(node.schema);
    const applies = applicability(keywords['type']);
    const written: [string, unknown][] = [];
    for (const [keyword, value] of Object.entries(keywords)) {
      if (keyword === '$defs' || keyword === 'contentSchema' || !applies(keyword)) continue;
      const child = node.children.get(keyword);
      if (child instanceof Map) {
        const parts = [...(child as ReadonlyMap<string, SchemaNode>)].map(
          ([name, one]) => [name, this.#part(one, scope)] as const,
        );
        const isList = Array.isArray(value);
        written.push([keyword, isList ? parts.map(([, part]) => part) : Object.fromEntries(parts)]);
      } else if (child) written.push([keyword, this.#part(child as SchemaNode, scope)]);
      else if (isAssertion(keyword, value)) written.push([keyword, value]);
    }
    const { ref, dynamicRef } = this.#references.of(node);
    const references = [
      ...(ref ? [this.#reference(ref, scope)] : []),
      ...(dynamicRef ? [this.#reference(this.#dynamicTarget(node, dynamicRef, scope), scope)] : []),
    ];
    if (references.length === 2) {
      const allOf = written.find(([keyword]) => keyword === 'allOf');
      if (allOf) allOf[1] = [...(allOf[1] as unknown[]), references[1]];
      else written.push(['allOf', [references[1]]]);
    }
    if (references[0]) written.unshift(['$ref', references[0].$ref]);
    return Object.fromEntries(written);
  }

  /** The length of a part without its subschemas, in characters. */
  #lengthOf(node: SchemaNode): number {
    let length = this.#lengths.get(node);
    if (length === undefined) {
      length = 0;
      for (const [keyword, value] of Object.entries(keywordsOf(node.schema))) {
        const child = node.children.get(keyword);
        if (child instanceof Map) for (const name of child.keys()) length += String(name).length;
        else if (isAssertion(keyword, value)) length += JSON.stringify(value).length;
      }
      this.#lengths.set(node, length);
    }
    return length;
  }

  #dynamicTarget(node: SchemaNode, target: SchemaNode, scope: Scope): SchemaNode {
    const anchor = String(keywordsOf(node.schema)['$dynamicRef']).split('#')[1] ?? '';
    const isDynamic = keywordsOf(target.schema)['$dynamicAnchor'] === decodeURIComponent(anchor);
    return (isDynamic ? scope.anchors.get(decodeURIComponent(anchor)) : undefined) ?? target;
  }
}

/**
 * Makes a function that says whether a keyword applies to values of these types. Keywords that do not apply are left out, because
 * validators differ in how they treat them.
 */
function applicability(type: unknown): (keyword: string) => boolean {
  if (type === undefined) return () => true;
  const types = (Array.isArray(type) ? type : [type]) as readonly TypeName[];
  return (keyword) => {
    const about = Object.hasOwn(typeOfKeyword, keyword) ? typeOfKeyword[keyword] : undefined;
    return about === undefined || about.some((one) => types.includes(one));
  };
}

/** The name of a part that is one of the definitions; `undefined` for any other part. */
function nameOf({ place }: SchemaNode): string | undefined {
  const keyword = place?.parent?.key;
  return keyword === '$defs' || keyword === 'definitions' ? place?.key : undefined;
}
