import { LSPPlugin } from '@codemirror/lsp-client';
import type { Command, EditorView } from '@codemirror/view';
import { html, nothing, render } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { messageOf, showAtCursor, showMessage } from './cursor-message.ts';
import { WAIT, applyEdits, sendClientRequest } from './text-command.ts';

/** Shows a field for a new name of what is at the cursor, and then renames it everywhere. */
export const renameAtCursor: Command = (view) => {
  const plugin = LSPPlugin.get(view);
  if (!plugin) return false;
  const word = view.state.wordAt(view.state.selection.main.head);
  if (!word) showMessage(view, texts().languageHelp.renameWhere);
  else {
    const create = () => new RenameField(plugin, view.state.sliceDoc(word.from, word.to), word.from);
    view.dispatch({ effects: showAtCursor.of({ pos: word.from, create }) });
  }
  return true;
};

/** A field for the new name. The next change of the text removes it, and so does a loss of the focus. */
class RenameField {
  readonly dom = document.createElement('form');
  readonly #plugin: LSPPlugin;
  readonly #view: EditorView;
  readonly #from: number;
  readonly #name: string;
  #problem: string | undefined;
  #isRenaming = false;
  /** Whether the user is told that the service has not answered yet. */
  #isWaiting = false;

  constructor(plugin: LSPPlugin, name: string, from: number) {
    this.#plugin = plugin;
    this.#view = plugin.view;
    this.#name = name;
    this.#from = from;
    this.dom.className = 'cm-rename';
    this.dom.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#rename();
    });
    this.dom.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      this.#close();
    });
    this.dom.addEventListener('focusout', ({ relatedTarget }) => {
      const isLeft = !this.dom.contains(relatedTarget as Node | null);
      // It stays where the whole page lost the focus. It is removed after the present update of the editor, which may be what
      // took the focus.
      if (isLeft && this.dom.isConnected && document.hasFocus()) queueMicrotask(() => this.#hide());
    });
    this.#draw();
  }

  mount(): void {
    this.#input?.focus();
    this.#input?.select();
  }

  get #input(): HTMLInputElement | null {
    return this.dom.querySelector('input');
  }

  #draw(): void {
    const words = texts().languageHelp;
    render(
      html`<label
          >${words.rename}
          <input
            class="field"
            type="text"
            autocomplete="off"
            autocapitalize="off"
            spellcheck="false"
            dir="ltr"
            .defaultValue=${this.#name}
            aria-invalid=${this.#problem !== undefined}
          />
        </label>
        <button type="submit" class="button">${words.renaming}</button>
        <p role="status">${this.#isWaiting ? texts().common.loading : nothing}</p>
        <p role="alert">${this.#problem ?? nothing}</p>`,
      this.dom,
    );
  }

  async #rename(): Promise<void> {
    const newName = this.#input?.value.trim() ?? '';
    if (this.#isRenaming) return;
    if (newName === this.#name || !newName) return this.#close();
    this.#isRenaming = true;
    const timer = setTimeout(() => {
      this.#isWaiting = true;
      this.#draw();
    }, WAIT);
    const { doc } = this.#view.state;
    const position = this.#plugin.toPosition(this.#from);
    try {
      const edits = await sendClientRequest(this.#plugin, 'textDocument/rename', { position, newName })
        .result;
      // The ranges are those of the text that the request was about.
      if (!this.dom.isConnected || this.#view.state.doc !== doc) return;
      if (edits?.length) {
        applyEdits(this.#plugin, edits, 'rename');
        this.#view.focus();
      } else {
        this.#show(texts().languageHelp.notDeclared);
      }
    } catch (error) {
      this.#show(messageOf(error));
    } finally {
      clearTimeout(timer);
      this.#isRenaming = this.#isWaiting = false;
      this.#draw();
    }
  }

  #show(problem: string): void {
    this.#problem = problem;
    this.#draw();
    this.#input?.focus();
  }

  #close(): void {
    this.#hide();
    this.#view.focus();
  }

  #hide(): void {
    if (this.dom.isConnected) this.#view.dispatch({ effects: showAtCursor.of(null) });
  }
}
