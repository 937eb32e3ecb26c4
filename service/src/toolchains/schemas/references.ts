import { keysOfPointer } from '../../json-pointer.ts';
import { InvalidSchemaError, keywordsOf, placeIn, resolveUri } from './read-schema.ts';
import type { SchemaDocument, SchemaNode } from './read-schema.ts';

/** The targets of a part's `$ref` and `$dynamicRef`. */
interface NodeReferences {
  ref?: SchemaNode;
  dynamicRef?: SchemaNode;
}

/** The references of a schema, resolved. Throws an {@link InvalidSchemaError} for one to anything that is not in the schema. */
export class References {
  readonly #document: SchemaDocument;
  /** The parts that are referred to. They become definitions, wherever they stand. */
  readonly targets = new Set<SchemaNode>();
  /** The names of the anchors that are referred to dynamically. */
  readonly dynamicNames = new Set<string>();
  readonly #byNode = new Map<SchemaNode, NodeReferences>();

  constructor(document: SchemaDocument) {
    this.#document = document;
    // A reference may lead to a part that is not a schema by its place, and so makes it one. Such parts are added to the end of
    // this list during the loop, so that their references are resolved, too.
    for (const node of document.nodes) this.#resolveNode(node);
  }

  /** The references of a part. */
  of(node: SchemaNode): Readonly<NodeReferences> {
    return this.#byNode.get(node) ?? {};
  }

  #resolveNode(node: SchemaNode): void {
    const keywords = keywordsOf(node.schema);
    const found: NodeReferences = {};
    if (Object.hasOwn(keywords, '$ref')) found.ref = this.#resolve(node, '$ref').target;
    if (Object.hasOwn(keywords, '$dynamicRef')) {
      const { target, anchor } = this.#resolve(node, '$dynamicRef');
      // A dynamic reference that does not lead to a dynamic anchor of its name behaves like a `$ref`.
      if (anchor !== undefined && keywordsOf(target.schema)['$dynamicAnchor'] === anchor) {
        found.dynamicRef = target;
        this.#targetDynamically(anchor);
      } else if (found.ref) {
        // The part has both keywords. `allOf` of the two references means the same, and is written by `link-schema.ts`.
        found.dynamicRef = target;
      } else found.ref = target;
    }
    for (const one of [found.ref, found.dynamicRef]) if (one) this.targets.add(one);
    if (found.ref ?? found.dynamicRef) this.#byNode.set(node, found);
  }

  /** Makes every part with a dynamic anchor of this name a target, because any of them may be referred to. */
  #targetDynamically(name: string): void {
    if (this.dynamicNames.has(name)) return;
    this.dynamicNames.add(name);
    for (const { dynamicAnchors } of this.#document.resources.values()) {
      const other = dynamicAnchors.get(name);
      if (other) this.targets.add(other);
    }
  }

  #resolve(
    node: SchemaNode,
    keyword: '$ref' | '$dynamicRef',
  ): { readonly target: SchemaNode; readonly anchor?: string | undefined } {
    const place = placeIn(node.place, keyword);
    const invalid = (reason: string) => new InvalidSchemaError(place, reason);
    const url = resolveUri(place, keywordsOf(node.schema)[keyword] as string, node.resource);
    const hash = url.hash.slice(1);
    url.hash = '';
    const resource = this.#document.resources.get(url.href.replace(/#$/, ''));
    if (!resource?.root) throw invalid('refers to something outside of the schema, and nothing is fetched');
    let fragment: string;
    try {
      fragment = decodeURIComponent(hash);
    } catch {
      throw invalid('must be a URI');
    }
    if (fragment === '') return { target: resource.root };
    const target = fragment.startsWith('/')
      ? this.#atPointer(resource.root, fragment, invalid)
      : resource.anchors.get(fragment);
    if (!target) throw invalid('refers to something that is not in the schema');
    return { target, anchor: fragment.startsWith('/') ? undefined : fragment };
  }

  #atPointer(
    from: SchemaNode,
    pointer: string,
    invalid: (reason: string) => InvalidSchemaError,
  ): SchemaNode | undefined {
    let { place, resource } = from;
    let value: unknown = from.schema;
    let node: SchemaNode | undefined;
    let container: object | undefined;
    let last = '';
    for (const key of keysOfPointer(pointer)) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
      container = value;
      last = key;
      node = this.#document.nodeAt(container, key);
      value = (container as Readonly<Record<string, unknown>>)[key];
      place = placeIn(place, key);
      resource = node?.resource ?? resource;
    }
    if (node ?? !container) return node;
    try {
      return this.#document.readAt(container, last, place, resource);
    } catch (error) {
      if (error instanceof InvalidSchemaError) throw invalid('refers to something that is not a JSON Schema');
      throw error;
    }
  }
}
