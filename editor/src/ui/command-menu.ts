import { type Command, runCommand, shortcutText } from './commands.ts';
import { el, icon } from './dom.ts';

/** All commands under one button, and under the menu key. */
export class CommandMenu {
  readonly element: HTMLElement;
  readonly #button: HTMLButtonElement;
  readonly #menu: HTMLElement;
  readonly #commands: readonly Command[];
  #before: Element | null = null;

  constructor(commands: readonly Command[]) {
    this.#commands = commands;
    this.#button = el(
      'button',
      {
        type: 'button',
        class: 'button icon-only',
        'aria-label': 'Menu',
        'aria-haspopup': 'menu',
        'aria-expanded': 'false',
        title: 'Menu (menu key)',
        onclick: () => (this.#menu.hidden ? this.open() : this.#close()),
      },
      icon('more'),
    );
    this.#menu = el('div', {
      class: 'menu',
      role: 'menu',
      'aria-label': 'Commands',
      hidden: true,
      onkeydown: (event) => this.#key(event as KeyboardEvent),
      onfocusout: (event) => {
        const { relatedTarget } = event as FocusEvent;
        if (!this.element.contains(relatedTarget as Node | null)) this.#close(false);
      },
    });
    this.element = el('div', { class: 'menu-place' }, this.#button, this.#menu);
  }

  open(): void {
    this.#before = document.activeElement;
    this.#menu.replaceChildren(
      ...this.#commands.filter(({ offered }) => offered?.() ?? true).map((command) => this.#item(command)),
    );
    this.#menu.hidden = false;
    this.#button.setAttribute('aria-expanded', 'true');
    this.#items()[0]?.focus();
  }

  #item(command: Command): HTMLElement {
    const { label, shortcut, enabled } = command;
    return el(
      'button',
      {
        type: 'button',
        role: 'menuitem',
        class: 'menu-item',
        tabindex: '-1',
        'aria-disabled': String(!(enabled?.() ?? true)),
        onclick: () => {
          // First back to where one was: the command may go elsewhere.
          this.#close();
          runCommand(command);
        },
      },
      el('span', {}, label),
      ...(shortcut ? [el('kbd', {}, shortcutText(shortcut))] : []),
    );
  }

  #items(): HTMLElement[] {
    return [...this.#menu.querySelectorAll<HTMLElement>('[role=menuitem]')];
  }

  #key(event: KeyboardEvent): void {
    const items = this.#items();
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (event.key === 'Escape') this.#close();
    else if (event.key === 'Tab') return this.#close();
    else if (to !== undefined) items[(to + items.length) % items.length]?.focus();
    else if (/^\p{L}$/u.test(event.key) && !event.ctrlKey && !event.metaKey) this.#find(items, at, event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** To the next command that begins with a letter. */
  #find(items: HTMLElement[], at: number, letter: string): void {
    const order = [...items.slice(at + 1), ...items.slice(0, at + 1)];
    order.find(({ textContent }) => textContent?.toLowerCase().startsWith(letter.toLowerCase()))?.focus();
  }

  #close(back = true): void {
    if (this.#menu.hidden) return;
    const before = this.#before;
    this.#before = null;
    this.#menu.hidden = true;
    this.#button.setAttribute('aria-expanded', 'false');
    if (back) (before instanceof HTMLElement && before !== document.body ? before : this.#button).focus();
  }
}
