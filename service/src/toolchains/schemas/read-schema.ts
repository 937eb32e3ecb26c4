import { checks, subschemas } from './keywords.ts';
import { InvalidSchemaError } from './invalid-schema-error.ts';

/** A subschema and its place. */
export interface SchemaNode {
  readonly path: readonly string[];
  readonly schema: unknown;
  /** The subschemas in it, by keyword, and then by name or number where the keyword holds several. */
  readonly children: ReadonlyMap<string, SchemaNode | ReadonlyMap<string, SchemaNode>>;
  readonly resource: Resource;
}

/** A schema resource, which has a URI: the whole schema, and each part with an `$id`. */
export interface Resource {
  readonly uri: URL;
  root: SchemaNode | undefined;
  readonly anchors: Map<string, SchemaNode>;
  readonly dynamicAnchors: Map<string, SchemaNode>;
}

/** A schema that was read. Every part of it is valid. */
export interface ReadSchema {
  readonly root: SchemaNode;
  readonly resources: ReadonlyMap<string, Resource>;
  /** All parts, by their paths; see {@link pathKey}. */
  readonly nodes: ReadonlyMap<string, SchemaNode>;
  /** Reads a part that is only a schema because a reference leads to it. */
  readonly readAt: (path: readonly string[], schema: unknown, resource: Resource) => SchemaNode;
  /** The regular expressions and their places. */
  readonly patterns: readonly { readonly path: readonly string[]; readonly pattern: string }[];
}

/** The base URI of a schema without an `$id`. Nothing can be fetched from it. */
const ownUri = 'schema://namespace/types';

export const pathKey = (path: readonly string[]): string => JSON.stringify(path);

/** The keywords of a schema. A boolean is a schema, too, and has none. */
export const keywordsOf = (schema: unknown): Readonly<Record<string, unknown>> =>
  typeof schema === 'object' && schema !== null ? (schema as Readonly<Record<string, unknown>>) : {};

/** Reads a schema. Throws an {@link InvalidSchemaError} for the first invalid part. */
export function readSchema(schema: unknown): ReadSchema {
  const reader = new Reader();
  const own: Resource = createResource(new URL(ownUri));
  reader.resources.set(own.uri.href, own);
  const root = reader.read([], schema, own);
  own.root ??= root;
  return {
    root,
    resources: reader.resources,
    nodes: reader.nodes,
    readAt: (path, part, resource) => reader.read(path, part, resource),
    patterns: reader.patterns,
  };
}

const createResource = (uri: URL): Resource => ({
  uri,
  root: undefined,
  anchors: new Map(),
  dynamicAnchors: new Map(),
});

class Reader {
  readonly resources = new Map<string, Resource>();
  readonly nodes = new Map<string, SchemaNode>();
  readonly patterns: { path: readonly string[]; pattern: string }[] = [];

  read(path: readonly string[], schema: unknown, outer: Resource): SchemaNode {
    const isObject = typeof schema === 'object' && schema !== null && !Array.isArray(schema);
    if (typeof schema !== 'boolean' && !isObject) {
      throw new InvalidSchemaError(path, 'must be a JSON Schema: an object, true or false');
    }
    const keywords = keywordsOf(schema);
    for (const [keyword, value] of Object.entries(keywords)) {
      const problem = Object.hasOwn(checks, keyword) ? checks[keyword]?.(value) : undefined;
      if (problem !== undefined) throw new InvalidSchemaError([...path, keyword], problem);
    }
    const resource = this.#resourceOf(path, keywords, outer);
    const children = new Map<string, SchemaNode | ReadonlyMap<string, SchemaNode>>();
    const node: SchemaNode = { path, schema, children, resource };
    this.nodes.set(pathKey(path), node);
    if (resource !== outer) resource.root = node;
    this.#addAnchors(node, keywords);
    for (const [keyword, value] of Object.entries(keywords)) {
      const at = [...path, keyword];
      switch (Object.hasOwn(subschemas, keyword) ? subschemas[keyword] : undefined) {
        case 'one':
          children.set(keyword, this.read(at, value, resource));
          break;
        case 'list':
          if (!Array.isArray(value) || !value.length) {
            throw new InvalidSchemaError(at, 'must be a list of at least one JSON Schema');
          }
          children.set(keyword, this.#readAll(at, Object.entries(value), resource));
          break;
        case 'map':
          if (typeof value !== 'object' || value === null || Array.isArray(value)) {
            throw new InvalidSchemaError(at, 'must be an object of JSON Schemas');
          }
          children.set(keyword, this.#readAll(at, Object.entries(value), resource));
          break;
        default:
      }
      if (keyword === 'pattern') this.patterns.push({ path: at, pattern: value as string });
      if (keyword === 'patternProperties') {
        for (const name of Object.keys(value as object)) {
          this.patterns.push({ path: [...at, name], pattern: name });
        }
      }
    }
    return node;
  }

  #readAll(path: readonly string[], parts: readonly [string, unknown][], resource: Resource) {
    return new Map(parts.map(([name, part]) => [name, this.read([...path, name], part, resource)]));
  }

  #resourceOf(
    path: readonly string[],
    keywords: Readonly<Record<string, unknown>>,
    outer: Resource,
  ): Resource {
    if (!Object.hasOwn(keywords, '$id')) return outer;
    const uri = URL.parse((keywords['$id'] as string).replace(/#$/, ''), outer.uri);
    if (!uri) throw new InvalidSchemaError([...path, '$id'], 'must be a URI');
    // At the root, `$id` may be equal to the base URI.
    if (this.resources.has(uri.href) && uri.href !== outer.uri.href) {
      throw new InvalidSchemaError([...path, '$id'], 'must not be that of another part');
    }
    if (uri.href === outer.uri.href) return outer;
    const resource = createResource(uri);
    this.resources.set(uri.href, resource);
    return resource;
  }

  #addAnchors(node: SchemaNode, keywords: Readonly<Record<string, unknown>>): void {
    const { anchors, dynamicAnchors } = node.resource;
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      if (!Object.hasOwn(keywords, keyword)) continue;
      const name = keywords[keyword] as string;
      const known = anchors.get(name);
      if (known && known !== node) {
        throw new InvalidSchemaError([...node.path, keyword], 'must not be that of another part');
      }
      anchors.set(name, node);
      if (keyword === '$dynamicAnchor') dynamicAnchors.set(name, node);
    }
  }
}
