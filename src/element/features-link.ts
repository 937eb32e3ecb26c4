import type { ShownPlugin } from './events.ts';

/** The members of the linked editor that are used. It may not be upgraded to a `<plugin-editor>` yet. */
export type LinkedEditor = Element & {
  builder?: string | null;
  template?: string | null;
  /** Missing in editors of older versions of this package. */
  plugin?: ShownPlugin | undefined;
  updateComplete?: Promise<unknown>;
};

/** Finds the editor that `for` names, and observes the tree for changes that may concern it. */
export class EditorLink {
  #changed: () => void;
  /** The tree that is observed. */
  #root: Document | undefined;
  #watcher: MutationObserver | undefined;

  /** `changed` is called for every change in the tree that may concern the editor. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Returns the editor with this id in the tree of an element. Without an id, or outside of a page, observing ends. */
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
