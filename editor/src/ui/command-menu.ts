import { type TemplateResult, html, nothing } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { type Command, isEnabled, isOffered, runCommand, shortcutText } from './commands.ts';
import { icon } from './icon.ts';

/** The menu with all commands, opened by a button or the menu key. */
export class CommandMenu {
  readonly #onDraw: () => void;
  #isOpen = false;
  #before: Element | null = null;

  /** `onDraw` draws the page, with this menu in it, at once. */
  constructor(onDraw: () => void) {
    this.#onDraw = onDraw;
  }

  /** Opens it, with the focus on its first command. */
  open(): void {
    if (this.#isOpen) return;
    this.#before = document.activeElement;
    this.#isOpen = true;
    this.#onDraw();
    this.#items()[0]?.focus();
  }

  view(commands: readonly Command[]): TemplateResult {
    const words = texts().commands;
    const offered = this.#isOpen ? commands.filter(isOffered) : [];
    return html`<div class="menu-place">
      <button
        type="button"
        class="button icon-only menu-button"
        aria-label=${words.menu}
        aria-haspopup="menu"
        aria-expanded=${this.#isOpen}
        title=${words.menuHint}
        @click=${() => (this.#isOpen ? this.#close() : this.open())}
      >
        ${icon('more')}
      </button>
      <div
        class="menu"
        role="menu"
        aria-label=${words.list}
        ?hidden=${!this.#isOpen}
        @keydown=${(event: KeyboardEvent) => this.#handleKey(event)}
        @focusout=${({ currentTarget, relatedTarget }: FocusEvent) => {
          const place = (currentTarget as Element).parentElement;
          if (!place?.contains(relatedTarget as Node | null)) this.#close(false);
        }}
      >
        ${offered.map((command, index) => {
          const isApart = index > 0 && command.group !== offered[index - 1]?.group;
          return html`${isApart ? html`<div class="menu-line" role="separator"></div>` : nothing}${this.#item(command)}`;
        })}
      </div>
    </div>`;
  }

  #item(command: Command): TemplateResult {
    const { label, shortcut } = command;
    return html`<button
      type="button"
      role="menuitem"
      class="menu-item"
      tabindex="-1"
      aria-disabled=${!isEnabled(command)}
      @click=${() => {
        // The focus goes back first, because the command may move it elsewhere.
        this.#close();
        runCommand(command);
      }}
    >
      <span dir="auto">${label}</span
      >${shortcut ? html`<kbd dir="ltr">${shortcutText(shortcut)}</kbd>` : nothing}
    </button>`;
  }

  #items(): HTMLElement[] {
    return [...document.querySelectorAll<HTMLElement>('.menu [role=menuitem]')];
  }

  #handleKey(event: KeyboardEvent): void {
    const items = this.#items();
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (event.key === 'Escape') this.#close();
    else if (event.key === 'Tab') return this.#close();
    else if (to !== undefined) items[(to + items.length) % items.length]?.focus();
    else if (/^\p{L}$/u.test(event.key) && !event.ctrlKey && !event.metaKey)
      this.#focusByLetter(items, at, event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Moves the focus to the next command that begins with a letter. */
  #focusByLetter(items: HTMLElement[], at: number, letter: string): void {
    const order = [...items.slice(at + 1), ...items.slice(0, at + 1)];
    order.find(({ innerText }) => innerText.toLowerCase().startsWith(letter.toLowerCase()))?.focus();
  }

  /** Closes it; the focus goes `back` to where it was before. */
  #close(back = true): void {
    if (!this.#isOpen) return;
    const before = this.#before;
    this.#before = null;
    this.#isOpen = false;
    if (back) {
      const button = document.querySelector<HTMLElement>('.menu-button');
      (before instanceof HTMLElement && before !== document.body ? before : button)?.focus();
    }
    this.#onDraw();
  }
}
