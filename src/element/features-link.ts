import type { ShownPlugin } from './events.ts';

/** What is used of the editor that `for` names, which may not be defined yet. */
export type LinkedEditor = Element & {
  builder?: string | null;
  template?: string | null;
  /** Missing in an editor of an older version of this package. */
  plugin?: ShownPlugin | undefined;
  updateComplete?: Promise<unknown>;
};

/** Finds the editor that `for` names, and watches for what may change about it. */
export class EditorLink {
  #changed: () => void;
  /** The tree that is watched. */
  #root: Document | undefined;
  #watcher: MutationObserver | undefined;

  /** `changed` is called for every change in the tree that may concern the editor. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The editor with this id in the tree of an element. Without an id, or out of a page, nothing is watched any more. */
  find(element: Element, id: string | null): LinkedEditor | null | undefined {
    const root = element.isConnected && id ? (element.getRootNode() as Document) : undefined;
    if (root !== this.#root) {
      this.#root?.removeEventListener('plugin-editor-plugin', this.#changed);
      root?.addEventListener('plugin-editor-plugin', this.#changed);
      this.#root = root;
      this.#watcher?.disconnect();
      this.#watcher = new MutationObserver(this.#changed);
      const attributeFilter = ['id', 'builder', 'template'];
      if (root) this.#watcher.observe(root, { subtree: true, childList: true, attributeFilter });
    }
    return root?.getElementById(id as string);
  }
}
