import type { PluginTest } from 'plugin-editor/client.js';
import { el, icon } from '../ui/dom.ts';
import { TestItem } from './test-item.ts';

export interface TestsPanelOptions {
  /** Hears of the user's changes, not of those by `tests`. */
  onChange: () => void;
  /** Some are to be run: all of them, or one. */
  onRun: (items: readonly TestItem[]) => void;
}

/** The plugin's tests: a list to add to, edit, order, run and remove from. */
export class TestsPanel {
  readonly element: HTMLElement;
  readonly #list = el('ol', { class: 'tests-list', 'aria-label': 'Tests' });
  readonly #empty = el(
    'p',
    { class: 'tests-empty' },
    'No tests yet. A test is a payload: the text that the plugin is run with.',
  );
  readonly #note = el('div', { class: 'tests-note', role: 'status' });
  readonly #options: TestsPanelOptions;
  readonly #runAll: HTMLButtonElement;
  readonly #summary = el('p', { class: 'tests-summary', role: 'status' });
  #items: TestItem[] = [];
  #runs = { offered: false, busy: false };
  #sourceKey: string | undefined;

  constructor(options: TestsPanelOptions) {
    this.#options = options;
    this.#runAll = el(
      'button',
      { type: 'button', class: 'button quiet', hidden: true, onclick: () => this.runAll() },
      icon('run'),
      'Run all',
    );
    const add = el(
      'button',
      { type: 'button', class: 'button quiet', onclick: () => this.add() },
      icon('add'),
      'Add test',
    );
    this.element = el(
      'div',
      { class: 'tests' },
      el('div', { class: 'tests-head' }, this.#runAll, add),
      this.#summary,
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
    this.summary = '';
    this.#arrange();
  }

  /** Whether tests can be run here, and now. */
  set runs(runs: { offered: boolean; busy: boolean }) {
    this.#runs = runs;
    this.#arrange();
  }

  /** How the last run of all went. */
  set summary(text: string) {
    this.#summary.textContent = text;
    this.#summary.hidden = !text;
  }

  /** Identifies the plugin's text as it is now: results of another text are shown as outdated. */
  set sourceKey(sourceKey: string) {
    this.#sourceKey = sourceKey;
    for (const item of this.#items) item.sourceKey = sourceKey;
  }

  runAll(): void {
    this.#options.onRun(this.#items);
  }

  #item(test: PluginTest): TestItem {
    const item = new TestItem(test, {
      onChange: () => this.#options.onChange(),
      onMove: (moved, by) => this.#move(moved, by),
      onRemove: (removed) => this.#remove(removed),
      onRun: (one) => this.#options.onRun([one]),
    });
    if (this.#sourceKey !== undefined) item.sourceKey = this.#sourceKey;
    return item;
  }

  /** Adds a test and opens it, ready to be named. */
  add(payload = ''): void {
    const item = this.#item({ name: this.#freeName(), description: '', payload });
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
    this.#options.onChange();
  }

  /** The list's elements in the order of the items; those in place are left alone, so that focus and scrolling stay. */
  #arrange(): void {
    for (const [index, { element }] of this.#items.entries()) {
      const present = this.#list.children[index];
      if (present !== element) this.#list.insertBefore(element, present ?? null);
    }
    while (this.#list.children.length > this.#items.length) this.#list.lastElementChild?.remove();
    for (const [index, item] of this.#items.entries()) {
      item.place(index, this.#items.length);
      item.runs = this.#runs;
    }
    this.#runAll.hidden = !this.#runs.offered || this.#items.length === 0;
    this.#runAll.setAttribute('aria-disabled', String(this.#runs.busy));
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
