import type { PluginTest } from '../../src/core/records.ts';
import { el, icon } from './dom.ts';
import { lineSeparator } from './line-breaks.ts';

export interface TestItemEvents {
  onChange: () => void;
  onMove: (item: TestItem, by: -1 | 1) => void;
  onRemove: (item: TestItem) => void;
}

let count = 0;

/** One test in the list: closed it shows its name, open its fields. */
export class TestItem {
  readonly element: HTMLElement;
  readonly #details: HTMLDetailsElement;
  readonly #title = el('span', { class: 'test-title' });
  readonly #hint = el('span', { class: 'test-hint' });
  readonly #name: HTMLInputElement;
  readonly #up: HTMLButtonElement;
  readonly #down: HTMLButtonElement;
  readonly #remove: HTMLButtonElement;
  readonly #onChange: () => void;
  #test: PluginTest;
  #index = 0;

  constructor(test: PluginTest, { onChange, onMove, onRemove }: TestItemEvents) {
    this.#test = test;
    this.#onChange = onChange;
    const id = `test-${++count}`;
    const field = (key: 'name' | 'description' | 'payload', label: string, rows: number) => {
      const attributes = {
        id: `${id}-${key}`,
        class: `field ${key}`,
        autocomplete: 'off',
        spellcheck: 'false',
      };
      const input = rows
        ? el('textarea', { ...attributes, rows: String(rows) })
        : el('input', { ...attributes, type: 'text' });
      input.value = test[key] ?? '';
      input.addEventListener('input', () => this.#edit(key, input.value));
      return [el('label', { for: `${id}-${key}` }, label), input] as const;
    };
    const name = field('name', 'Name', 0);
    this.#name = name[1] as HTMLInputElement;
    this.#up = el(
      'button',
      { type: 'button', class: 'button icon-only', onclick: () => onMove(this, -1) },
      icon('up'),
    );
    this.#down = el(
      'button',
      { type: 'button', class: 'button icon-only', onclick: () => onMove(this, 1) },
      icon('down'),
    );
    this.#remove = el(
      'button',
      { type: 'button', class: 'button icon-only', onclick: () => onRemove(this) },
      icon('remove'),
    );
    this.#details = el(
      'details',
      { class: 'test' },
      el('summary', {}, icon('chevron'), this.#title, this.#hint),
      el(
        'div',
        { class: 'test-fields' },
        ...name,
        ...field('description', 'Description', 0),
        ...field('payload', 'Payload', 5),
        el('div', { class: 'test-actions' }, this.#up, this.#down, this.#remove),
      ),
    );
    this.element = el('li', {}, this.#details);
    this.#describe();
  }

  /** The test with the user's edits; fields that the editor does not know are kept. */
  get test(): PluginTest {
    return this.#test;
  }

  get title(): string {
    return this.#test.name?.trim() || `Test ${this.#index + 1}`;
  }

  /** Told where in the list it stands. */
  place(index: number, length: number): void {
    this.#index = index;
    this.#up.disabled = index === 0;
    this.#down.disabled = index === length - 1;
    this.#describe();
  }

  open(): void {
    this.#details.open = true;
    this.#name.focus();
    this.#name.select();
  }

  focus(): void {
    this.#details.querySelector('summary')?.focus();
  }

  /** After a move: back to the button that made it, or at the end of the way to the other. */
  focusMove(by: -1 | 1): void {
    const [button, other] = by < 0 ? [this.#up, this.#down] : [this.#down, this.#up];
    (button.disabled ? other : button).focus();
  }

  #edit(key: 'name' | 'description' | 'payload', value: string): void {
    // A text field gives every line break as one character; a payload that had two keeps them.
    const broken = lineSeparator(this.#test[key] ?? '') === '\r\n' ? value.replaceAll('\n', '\r\n') : value;
    this.#test = { ...this.#test, [key]: broken };
    this.#describe();
    this.#onChange();
  }

  #describe(): void {
    this.#title.textContent = this.title;
    this.#hint.textContent = this.#test.description ?? '';
    for (const [button, verb] of [
      [this.#up, 'Move up'],
      [this.#down, 'Move down'],
      [this.#remove, 'Remove'],
    ] as const) {
      button.setAttribute('aria-label', `${verb}: ${this.title}`);
      button.title = verb;
    }
  }
}
