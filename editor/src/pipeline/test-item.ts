import type { PluginTest } from 'plugin-editor/client.js';
import { el, icon } from '../ui/dom.ts';
import { lineSeparator } from '../code/line-breaks.ts';
import type { Run } from './pipeline.ts';
import { ResultView, duration, passed } from './result-view.ts';

export interface TestItemEvents {
  onChange: () => void;
  onMove: (item: TestItem, by: -1 | 1) => void;
  onRemove: (item: TestItem) => void;
  onRun: (item: TestItem) => void;
}

let count = 0;

/** One test in the list: closed it shows its name and how it went, open its fields and what it gave. */
export class TestItem {
  readonly element: HTMLElement;
  readonly #details: HTMLDetailsElement;
  readonly #title = el('span', { class: 'test-title' });
  readonly #hint = el('span', { class: 'test-hint' });
  readonly #name: HTMLInputElement;
  readonly #up: HTMLButtonElement;
  readonly #down: HTMLButtonElement;
  readonly #remove: HTMLButtonElement;
  readonly #run: HTMLButtonElement;
  readonly #outcome = el('span', { class: 'test-outcome' });
  readonly #result = new ResultView();
  /** Identifies the plugin's text as it is now. */
  #sourceKey: string | undefined;
  readonly #onChange: () => void;
  #test: PluginTest;
  #index = 0;

  constructor(test: PluginTest, { onChange, onMove, onRemove, onRun }: TestItemEvents) {
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
    this.#run = el(
      'button',
      { type: 'button', class: 'button icon-only test-run', onclick: () => onRun(this) },
      icon('run'),
    );
    this.#details = el(
      'details',
      { class: 'test' },
      el('summary', {}, icon('chevron'), this.#title, this.#hint, this.#outcome),
      el(
        'div',
        { class: 'test-fields' },
        ...name,
        ...field('description', 'Description', 0),
        ...field('payload', 'Payload', 3),
        this.#result.element,
        el('div', { class: 'test-actions' }, this.#up, this.#down, this.#remove),
      ),
    );
    this.element = el('li', { class: 'test-row' }, this.#details, this.#run);
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

  /** Whether tests can be run here, and now. */
  set runs({ offered, busy }: { offered: boolean; busy: boolean }) {
    this.#run.hidden = !offered;
    this.#run.setAttribute('aria-disabled', String(busy));
  }

  /** Its turn is about to come. */
  wait(): void {
    this.#say('busy', '…', 'Waiting');
  }

  /** It was not run after all: what it gave before stands. */
  settle(): void {
    if (this.#outcome.dataset['tone'] === 'busy') this.#describeRun();
  }

  /** What it gave. `open`: the user asked for this one, and wants to see it. */
  show(run: Run, open: boolean): void {
    this.#result.show(run);
    this.#describeRun();
    if (!open) return;
    this.#details.open = true;
    this.#result.element.scrollIntoView({ block: 'nearest' });
  }

  /** Identifies the plugin's text as it is now: a result of another text is shown as outdated. */
  set sourceKey(sourceKey: string) {
    this.#sourceKey = sourceKey;
    this.#describeRun();
  }

  #describeRun(): void {
    const { run } = this.#result;
    if (!run) return this.#say('', '', '');
    const stale =
      (this.#sourceKey !== undefined && run.sourceKey !== this.#sourceKey) ||
      run.payload !== (this.#test.payload ?? '');
    this.#result.stale = stale;
    const words = passed(run) ? 'Passed' : 'Failed';
    const tone = stale ? 'stale' : passed(run) ? 'good' : 'bad';
    this.#say(tone, `${words} ${duration(run.took)}`, stale ? `${words} before the last change` : words);
    if (!stale) this.#outcome.prepend(icon(passed(run) ? 'pass' : 'fail'));
  }

  #say(tone: string, text: string, title: string): void {
    this.#outcome.textContent = text;
    this.#outcome.dataset['tone'] = tone;
    this.#outcome.title = title;
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
    if (key === 'payload') this.#describeRun();
    this.#onChange();
  }

  #describe(): void {
    this.#title.textContent = this.title;
    this.#hint.textContent = this.#test.description ?? '';
    for (const [button, verb] of [
      [this.#up, 'Move up'],
      [this.#down, 'Move down'],
      [this.#remove, 'Remove'],
      [this.#run, 'Run'],
    ] as const) {
      button.setAttribute('aria-label', `${verb}: ${this.title}`);
      button.title = verb;
    }
  }
}
