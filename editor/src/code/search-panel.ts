import {
  SearchQuery,
  closeSearchPanel,
  findNext,
  findPrevious,
  getSearchQuery,
  highlightSelectionMatches,
  openSearchPanel,
  replaceAll,
  replaceNext,
  search,
  searchKeymap,
  selectNextOccurrence,
  selectSelectionMatches,
  setSearchQuery,
} from '@codemirror/search';
import type { Extension } from '@codemirror/state';
import { EditorView, type Panel, type ViewUpdate, keymap } from '@codemirror/view';
import { type TemplateResult, html, nothing, render } from 'lit/html.js';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { isComposing } from '../ui/commands.ts';
import { type Icon, icon } from '../ui/icon.ts';

/** How many matches are counted at most. */
const MAX_COUNT = 1000;

/** Finding and replacing, in a panel below the text. */
export const searchPanel = (): Extension => [
  highlightSelectionMatches(),
  search({ createPanel: (view) => new SearchPanel(view) }),
  // The page opens the panel, and has no command that goes to a line: CodeMirror's dialog for it is not translated.
  keymap.of(searchKeymap.filter(({ key }) => key !== 'Mod-f' && key !== 'Mod-Alt-g')),
];

/** What can be done with matches without the panel. */
export const searchCommands = { findNext, findPrevious, selectNextOccurrence, selectSelectionMatches };

/** Opens the search, with the focus in its field; or in that of the replacement, where the search is open. */
export function openSearch(view: EditorView, { replace }: { replace: boolean }): void {
  openSearchPanel(view);
  const field = view.dom.querySelector<HTMLInputElement>(replace ? '[name=replace]' : '[name=search]');
  // With nothing to find there is nothing to replace yet.
  const first = view.dom.querySelector<HTMLInputElement>('[name=search]');
  const target = replace && first?.value ? field : first;
  target?.focus();
  target?.select();
}

type Flag = 'caseSensitive' | 'wholeWord' | 'regexp';

class SearchPanel implements Panel {
  readonly dom = document.createElement('div');
  readonly #view: EditorView;
  #query: SearchQuery;
  /** What was replaced last, in words. */
  #note = '';

  constructor(view: EditorView) {
    this.#view = view;
    this.#query = getSearchQuery(view.state);
    this.dom.className = 'find';
    this.dom.addEventListener('keydown', (event) => this.#handleKey(event));
    this.#draw();
  }

  mount(): void {
    this.dom.querySelector<HTMLInputElement>('[name=search]')?.select();
  }

  update(update: ViewUpdate): void {
    const query = getSearchQuery(update.state);
    if (!query.eq(this.#query)) this.#query = query;
    // A reconfiguration may have changed the language of the page, or whether the text can be changed.
    else if (
      !update.docChanged &&
      !update.selectionSet &&
      !update.transactions.some(({ reconfigured }) => reconfigured)
    )
      return;
    this.#note = '';
    this.#draw();
  }

  #change(change: Partial<Pick<SearchQuery, 'search' | 'replace' | Flag>>): void {
    const { search: text, replace, caseSensitive, wholeWord, regexp } = this.#query;
    const query = new SearchQuery({
      search: text,
      replace,
      caseSensitive,
      wholeWord,
      regexp,
      literal: !regexp,
      ...change,
    });
    this.#note = '';
    this.#query = query;
    this.#view.dispatch({ effects: setSearchQuery.of(query) });
    this.#draw();
  }

  #handleKey(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    if (event.key === 'Escape') {
      this.#close();
    } else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
      const { name } = event.target as HTMLInputElement;
      if (name === 'search') (event.shiftKey ? findPrevious : findNext)(this.#view);
      else if (name === 'replace') replaceNext(this.#view);
      else return;
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** Which match is selected, and how many there are. */
  #countText(): string {
    const { find } = texts();
    if (this.#note) return this.#note;
    if (!this.#query.search) return '';
    if (!this.#query.valid) return find.wrong;
    const { state } = this.#view;
    const { from, to } = state.selection.main;
    const cursor = this.#query.getCursor(state);
    let count = 0;
    let current = 0;
    for (let next = cursor.next(); !next.done && count < MAX_COUNT; next = cursor.next()) {
      count++;
      if (next.value.from === from && next.value.to === to) current = count;
    }
    if (!count) return find.none;
    const all = `${formatNumber(count)}${count === MAX_COUNT ? '+' : ''}`;
    if (current) return find.count(formatNumber(current), all);
    return count === 1 ? find.one : find.all(all);
  }

  #replaceAll(): void {
    // An empty or a wrong pattern has no cursor.
    if (!this.#query.valid) return;
    const all = this.#query.getCursor(this.#view.state);
    let count = 0;
    while (!all.next().done) count++;
    if (!count || !replaceAll(this.#view)) return;
    this.#note = texts().find.replaced(formatNumber(count));
    this.#draw();
  }

  #close(): void {
    closeSearchPanel(this.#view);
    this.#view.focus();
  }

  #draw(): void {
    const { find, common } = texts();
    const { search: text, valid } = this.#query;
    render(
      html`<div class="find-row">
          <div class="find-field">
            ${this.#field('search', find.find, text !== '' && !valid)}
            <div class="find-flags">
              ${this.#flag('caseSensitive', find.matchCase, 'Aa')}${this.#flag('wholeWord', find.word, 'W')}${this.#flag(
                'regexp',
                find.regexp,
                '.*',
              )}
            </div>
          </div>
          <span class="find-count" role="status">${this.#countText()}</span>
          ${iconButton('up', find.previous, () => findPrevious(this.#view))}
          ${iconButton('down', find.next, () => findNext(this.#view))}
          ${iconButton('close', common.close, () => this.#close())}
        </div>
        ${this.#view.state.readOnly ? nothing : this.#replaceRow()}`,
      this.dom,
    );
  }

  #replaceRow(): TemplateResult {
    const { find } = texts();
    return html`<div class="find-row">
      <div class="find-field">${this.#field('replace', find.replace, false)}</div>
      <button type="button" class="button" @click=${() => replaceNext(this.#view)}>${find.replaceOne}</button>
      <button type="button" class="button" @click=${() => this.#replaceAll()}>${find.replaceAll}</button>
    </div>`;
  }

  /** CodeMirror puts what is selected into the field with the attribute `main-field`, where it opens the search again. */
  #field(name: 'search' | 'replace', label: string, isWrong: boolean): TemplateResult {
    return html`<input
      class="field"
      name=${name}
      ?main-field=${name === 'search'}
      type="text"
      autocomplete="off"
      autocapitalize="off"
      spellcheck="false"
      aria-label=${label}
      placeholder=${label}
      aria-invalid=${isWrong}
      .value=${this.#query[name]}
      @input=${({ currentTarget }: Event) =>
        this.#change({ [name]: (currentTarget as HTMLInputElement).value })}
    />`;
  }

  #flag(name: Flag, label: string, sign: string): TemplateResult {
    return html`<button
      type="button"
      class="find-flag"
      aria-label=${label}
      title=${label}
      aria-pressed=${this.#query[name]}
      @click=${() => this.#change({ [name]: !this.#query[name] })}
    >
      ${sign}
    </button>`;
  }
}

const iconButton = (name: Icon, label: string, run: () => void): TemplateResult =>
  html`<button type="button" class="button icon-only" aria-label=${label} title=${label} @click=${run}>
    ${icon(name)}
  </button>`;
