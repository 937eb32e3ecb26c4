import type { PluginTest } from '../../src/core/records.ts';
import { el, icon } from './dom.ts';
import { TestItem } from './test-item.ts';

/** The plugin's tests: a list to add to, edit, order and remove from. */
export class TestsPanel {
  readonly element: HTMLElement;
  readonly #list = el('ol', { class: 'tests-list', 'aria-label': 'Tests' });
  readonly #empty = el(
    'p',
    { class: 'tests-empty' },
    'No tests yet. A test is a payload: the text that the plugin is run with.',
  );
  readonly #note = el('div', { class: 'tests-note', role: 'status' });
  readonly #onChange: () => void;
  #items: TestItem[] = [];

  /** `onChange` hears of the user's changes, not of those by `tests`. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
    const add = el(
      'button',
      { type: 'button', class: 'button quiet', onclick: () => this.#add() },
      icon('add'),
      'Add test',
    );
    this.element = el(
      'div',
      { class: 'tests' },
      el('div', { class: 'tests-head' }, el('h2', {}, 'Tests'), add),
      this.#note,
      this.#empty,
      this.#list,
    );
    this.#arrange();
  }

  get tests(): PluginTest[] {
    return this.#items.map(({ test }) => test);
  }

  set tests(tests: readonly PluginTest[]) {
    this.#items = tests.map((test) => this.#item(test));
    this.#note.replaceChildren();
    this.#arrange();
  }

  #item(test: PluginTest): TestItem {
    return new TestItem(test, {
      onChange: () => this.#onChange(),
      onMove: (item, by) => this.#move(item, by),
      onRemove: (item) => this.#remove(item),
    });
  }

  #add(): void {
    const item = this.#item({ name: this.#freeName(), description: '', payload: '' });
    this.#items.push(item);
    this.#changed();
    item.open();
  }

  #move(item: TestItem, by: -1 | 1): void {
    const from = this.#items.indexOf(item);
    const to = from + by;
    if (to < 0 || to >= this.#items.length) return;
    this.#items.splice(from, 1);
    this.#items.splice(to, 0, item);
    this.#changed();
    item.focusMove(by);
  }

  #remove(item: TestItem): void {
    const index = this.#items.indexOf(item);
    this.#items.splice(index, 1);
    this.#changed();
    const undo = el(
      'button',
      { type: 'button', class: 'link', onclick: () => this.#putBack(item, index) },
      'Undo',
    );
    this.#note.replaceChildren(`${item.title} removed. `, undo);
    undo.focus();
  }

  #putBack(item: TestItem, index: number): void {
    this.#note.replaceChildren();
    this.#items.splice(index, 0, item);
    this.#changed();
    item.focus();
  }

  #changed(): void {
    this.#arrange();
    this.#onChange();
  }

  /** The list's elements in the order of the items; those in place are left alone, so that focus and scrolling stay. */
  #arrange(): void {
    for (const [index, { element }] of this.#items.entries()) {
      const present = this.#list.children[index];
      if (present !== element) this.#list.insertBefore(element, present ?? null);
    }
    while (this.#list.children.length > this.#items.length) this.#list.lastElementChild?.remove();
    for (const [index, item] of this.#items.entries()) item.place(index, this.#items.length);
    this.#empty.hidden = this.#items.length > 0;
    this.#list.hidden = this.#items.length === 0;
  }

  #freeName(): string {
    const taken = new Set(this.tests.map(({ name }) => name));
    for (let number = this.#items.length + 1; ; number++) {
      if (!taken.has(`Test ${number}`)) return `Test ${number}`;
    }
  }
}
