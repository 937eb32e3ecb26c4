import { checks, subschemas } from './keywords.ts';

/** A schema is invalid. */
export class InvalidSchemaError extends Error {
  override readonly name = 'InvalidSchemaError';
  /** Leads from the schema's root to the invalid part. */
  readonly place: Place;

  constructor(place: Place, message: string) {
    super(message);
    this.place = place;
  }
}

/**
 * A place in a schema, as a linked list, so that it costs the same for each part however deep it is and however long its names are.
 * `undefined` is the root.
 */
export type Place = { readonly parent: Place; readonly key: string } | undefined;

export const placeIn = (parent: Place, ...keys: readonly string[]): Place =>
  keys.reduce<Place>((place, key) => ({ parent: place, key }), parent);

/** The keys that lead to a place. */
export function pathOf(place: Place): string[] {
  const keys: string[] = [];
  for (let at = place; at; at = at.parent) keys.push(at.key);
  return keys.toReversed();
}

/** A subschema and its place. */
export interface SchemaNode {
  /** Identifies the part. Texts of the schema, such as paths and URIs, do not: their length is the author's choice. */
  readonly number: number;
  readonly place: Place;
  readonly schema: unknown;
  /** The subschemas in it, by keyword, and then by name or number where the keyword holds several. */
  readonly children: ReadonlyMap<string, SchemaNode | ReadonlyMap<string, SchemaNode>>;
  readonly resource: Resource;
}

/** A schema resource, which has a URI: the whole schema, and each part with an `$id`. */
export interface Resource {
  readonly uri: string;
  root: SchemaNode | undefined;
  readonly anchors: Map<string, SchemaNode>;
  readonly dynamicAnchors: Map<string, SchemaNode>;
}

/** A regular expression of a schema. */
export interface Pattern {
  readonly place: Place;
  readonly pattern: string;
}

/** The base URI of a schema without an `$id`. Nothing can be fetched from it. */
const ownUri = 'schema://namespace/types';

/** The longest name of a part, property or anchor, in UTF-16 code units. */
const longestName = 1000;

/** The longest URI, before and after it is resolved, in UTF-16 code units. */
const longestUri = 2000;

/** How many parts may be read. A part is read again where references lead to it by a place that holds no schemas. */
const maxNodes = 40_000;

/** The keywords of a schema. A boolean is a schema, too, and has none. */
export const keywordsOf = (schema: unknown): Readonly<Record<string, unknown>> =>
  typeof schema === 'object' && schema !== null ? (schema as Readonly<Record<string, unknown>>) : {};

/**
 * A schema that was read. Every part of it is valid. The constructor throws an {@link InvalidSchemaError} for the first invalid
 * part.
 */
export class SchemaDocument {
  readonly root: SchemaNode;
  /** The resources by their URIs. */
  readonly resources = new Map<string, Resource>();
  /** All parts, by their numbers. */
  readonly nodes: SchemaNode[] = [];
  /** The regular expressions and their places. */
  readonly patterns: Pattern[] = [];
  /** The parts by the object or list that holds them, and their key in it. */
  readonly #located = new Map<object, Map<string, SchemaNode>>();

  constructor(schema: unknown) {
    const own = createResource(ownUri);
    this.resources.set(own.uri, own);
    this.root = this.#read(undefined, schema, own);
    own.root ??= this.root;
  }

  /** The part that a container, such as `properties`, holds under a key; `undefined` where that is no part. */
  nodeAt(container: object, key: string): SchemaNode | undefined {
    return this.#located.get(container)?.get(key);
  }

  /** Reads the part that a container holds under a key, such as one that is only a schema because a reference leads to it. */
  readAt(container: object, key: string, place: Place, resource: Resource): SchemaNode {
    const node = this.#read(place, (container as Readonly<Record<string, unknown>>)[key], resource);
    let parts = this.#located.get(container);
    if (!parts) this.#located.set(container, (parts = new Map()));
    parts.set(key, node);
    return node;
  }

  #read(place: Place, schema: unknown, outer: Resource): SchemaNode {
    const isObject = typeof schema === 'object' && schema !== null && !Array.isArray(schema);
    if (typeof schema !== 'boolean' && !isObject) {
      throw new InvalidSchemaError(place, 'must be a JSON Schema: an object, true or false');
    }
    const keywords = keywordsOf(schema);
    for (const [keyword, value] of Object.entries(keywords)) {
      const problem = Object.hasOwn(checks, keyword) ? checks[keyword]?.(value) : undefined;
      if (problem !== undefined) throw new InvalidSchemaError(placeIn(place, keyword), problem);
    }
    if (this.nodes.length >= maxNodes)
      throw new InvalidSchemaError(place, `is one of more than ${maxNodes} parts`);
    const resource = this.#resourceOf(place, keywords, outer);
    const children = new Map<string, SchemaNode | ReadonlyMap<string, SchemaNode>>();
    const node: SchemaNode = { number: this.nodes.length, place, schema, children, resource };
    this.nodes.push(node);
    if (resource !== outer) resource.root = node;
    this.#addAnchors(node, keywords);
    for (const [keyword, value] of Object.entries(keywords)) {
      const at = placeIn(place, keyword);
      switch (Object.hasOwn(subschemas, keyword) ? subschemas[keyword] : undefined) {
        case 'one':
          children.set(keyword, this.readAt(keywords, keyword, at, resource));
          break;
        case 'list':
          if (!Array.isArray(value) || !value.length) {
            throw new InvalidSchemaError(at, 'must be a list of at least one JSON Schema');
          }
          children.set(keyword, this.#readAll(at, value, resource));
          break;
        case 'map':
          if (typeof value !== 'object' || value === null || Array.isArray(value)) {
            throw new InvalidSchemaError(at, 'must be an object of JSON Schemas');
          }
          children.set(keyword, this.#readAll(at, value, resource));
          break;
        default:
      }
      if (keyword === 'pattern') this.patterns.push({ place: at, pattern: value as string });
      if (keyword === 'patternProperties') {
        for (const pattern of Object.keys(value as object)) {
          this.patterns.push({ place: placeIn(at, pattern), pattern });
        }
      }
    }
    return node;
  }

  #readAll(place: Place, parts: object, resource: Resource): ReadonlyMap<string, SchemaNode> {
    const read = new Map<string, SchemaNode>();
    for (const key of Object.keys(parts)) {
      const at = placeIn(place, key);
      checkLength(at, key, longestName, 'a name');
      read.set(key, this.readAt(parts, key, at, resource));
    }
    return read;
  }

  #resourceOf(place: Place, keywords: Readonly<Record<string, unknown>>, outer: Resource): Resource {
    if (!Object.hasOwn(keywords, '$id')) return outer;
    const at = placeIn(place, '$id');
    const uri = resolveUri(at, (keywords['$id'] as string).replace(/#$/, ''), outer).href;
    // At the root, `$id` may be equal to the base URI.
    if (uri === outer.uri) return outer;
    if (this.resources.has(uri)) throw new InvalidSchemaError(at, 'must not be that of another part');
    const resource = createResource(uri);
    this.resources.set(uri, resource);
    return resource;
  }

  #addAnchors(node: SchemaNode, keywords: Readonly<Record<string, unknown>>): void {
    const { anchors, dynamicAnchors } = node.resource;
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      if (!Object.hasOwn(keywords, keyword)) continue;
      const name = keywords[keyword] as string;
      const at = placeIn(node.place, keyword);
      checkLength(at, name, longestName, 'a name');
      const known = anchors.get(name);
      if (known && known !== node) throw new InvalidSchemaError(at, 'must not be that of another part');
      anchors.set(name, node);
      if (keyword === '$dynamicAnchor') dynamicAnchors.set(name, node);
    }
  }
}

const createResource = (uri: string): Resource => ({
  uri,
  root: undefined,
  anchors: new Map(),
  dynamicAnchors: new Map(),
});

function checkLength(place: Place, text: string, longest: number, what: string): void {
  if (text.length <= longest) return;
  throw new InvalidSchemaError(place, `is longer than ${what} may be, which is ${longest} characters`);
}

/** Resolves a reference to the URI of a resource. Throws for one that is none, and for one that is too long. */
export function resolveUri(place: Place, reference: string, base: Resource): URL {
  checkLength(place, reference, longestUri, 'a URI');
  const url = URL.parse(reference, base.uri);
  if (!url) throw new InvalidSchemaError(place, 'must be a URI');
  checkLength(place, url.href, longestUri, 'a URI, with all that it is relative to,');
  return url;
}
