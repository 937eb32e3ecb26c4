import { Compartment, type Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { loadModule } from '../ui/lazy-module.ts';
import { settings } from '../ui/settings.ts';

/** The keys of Vim, loaded when the user turns them on. */
export class VimMode {
  readonly #getView: () => EditorView;
  readonly #save: () => void;
  readonly #compartment = new Compartment();
  #keys: Extension | undefined;
  #isClosed = false;

  /** @param save what `:w` does */
  constructor(getView: () => EditorView, save: () => void) {
    this.#getView = getView;
    this.#save = save;
  }

  /** It must come before all other keys. */
  extension(): Extension {
    return this.#compartment.of(this.#keys ?? []);
  }

  /** Puts the keys in or takes them out, as the user's settings say. */
  update(): void {
    if (!settings.current.vim) this.#use(undefined);
    else if (!this.#keys) void this.#load();
  }

  close(): void {
    this.#isClosed = true;
  }

  async #load(): Promise<void> {
    // Where they cannot be loaded, the usual keys stay; the next change of a setting tries again.
    const module = await loadModule(() => import('./vim-keys.ts')).catch(() => undefined);
    if (module && !this.#isClosed && settings.current.vim)
      this.#use(module.vimKeys(this.#getView, this.#save));
  }

  #use(keys: Extension | undefined): void {
    if (keys === this.#keys) return;
    this.#keys = keys;
    this.#getView().dispatch({ effects: this.#compartment.reconfigure(keys ?? []) });
  }
}
