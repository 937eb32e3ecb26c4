import { Compartment, type Extension } from '@codemirror/state';
import { type EditorView, keymap } from '@codemirror/view';
import { loadModule } from '../ui/lazy-module.ts';

type SearchModule = typeof import('./search-panel.ts');

/** Finding and replacing in a text, loaded when it is first used. */
export class Search {
  readonly #getView: () => EditorView;
  readonly #compartment = new Compartment();
  /** The extension of the search, once it is loaded. */
  #loaded: Extension | undefined;
  #isClosed = false;

  constructor(getView: () => EditorView) {
    this.#getView = getView;
  }

  extension(): Extension {
    return [this.#compartment.of(this.#loaded ?? []), this.#loadingKeys()];
  }

  /** Opens the panel, with the focus in its field. */
  async open(options: { replace: boolean }): Promise<void> {
    const { openSearch } = await this.#load();
    if (!this.#isClosed) openSearch(this.#getView(), options);
  }

  close(): void {
    this.#isClosed = true;
  }

  async #load(): Promise<SearchModule> {
    const module = await loadModule(() => import('./search-panel.ts'));
    if (!this.#loaded && !this.#isClosed) {
      this.#loaded = module.searchPanel();
      this.#getView().dispatch({ effects: this.#compartment.reconfigure(this.#loaded) });
    }
    return module;
  }

  /** Keys that load the search and then run its command. Once it is loaded, its own keys come before these. */
  #loadingKeys(): Extension {
    const loadAndRun = (name: keyof SearchModule['searchCommands']) => () => {
      this.#load().then(
        ({ searchCommands }) => !this.#isClosed && searchCommands[name](this.#getView()),
        // Where the search cannot be loaded, the user can press the key again.
        () => {},
      );
      return true;
    };
    const find = { run: loadAndRun('findNext'), shift: loadAndRun('findPrevious') };
    return keymap.of([
      { key: 'Mod-d', run: loadAndRun('selectNextOccurrence'), preventDefault: true },
      { key: 'Mod-Shift-l', run: loadAndRun('selectSelectionMatches'), preventDefault: true },
      { key: 'F3', ...find, preventDefault: true },
      { key: 'Mod-g', ...find, preventDefault: true },
    ]);
  }
}
