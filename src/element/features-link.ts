import type { PluginEditorState } from './element-state.ts';
import type { ShownPlugin } from './events.ts';

/** The members of the linked editor that are used. It may not be upgraded to a `<plugin-editor>` yet. */
export type LinkedEditor = Element & {
  builder?: string | null;
  template?: string | null;
  /** Missing in editors of older versions of this package. */
  plugin?: ShownPlugin | undefined;
  state?: PluginEditorState;
  updateComplete?: Promise<unknown>;
};

/** The value of an editor's attribute, or an empty text. An editor that is not upgraded yet lacks the property. */
export const linkedAttribute = (
  editor: LinkedEditor | null | undefined,
  name: 'builder' | 'template',
): string => editor?.[name] ?? editor?.getAttribute(name) ?? '';

/** Finds the editor that `for` names, and observes the tree for changes that may concern it. */
export class EditorLink {
  #onChange: () => void;
  /** The tree that is observed. */
  #root: Document | undefined;
  #observer: MutationObserver | undefined;

  /** @param onChange called for every change in the tree that may concern the editor */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Returns the editor with this id in the tree of an element. Without an id, or outside of a page, observing ends. */
  find(element: Element, id: string | null): LinkedEditor | null | undefined {
    const root = element.isConnected && id ? (element.getRootNode() as Document) : undefined;
    if (root !== this.#root) {
      // An editor that failed to open another plugin becomes idle without a change of `plugin`.
      for (const type of ['plugin-editor-plugin', 'plugin-editor-state']) {
        this.#root?.removeEventListener(type, this.#onChange);
        root?.addEventListener(type, this.#onChange);
      }
      this.#root = root;
      this.#observer?.disconnect();
      this.#observer = new MutationObserver(this.#onChange);
      const attributeFilter = ['id', 'builder', 'template'];
      if (root) this.#observer.observe(root, { subtree: true, childList: true, attributeFilter });
    }
    return root?.getElementById(id as string);
  }
}
