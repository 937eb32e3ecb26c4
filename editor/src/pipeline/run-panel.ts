import { el, icon } from '../ui/dom.ts';
import type { Run } from './pipeline.ts';
import { ResultView } from './result-view.ts';

export interface RunPanelOptions {
  /** Runs the plugin with a payload. */
  onRun: (payload: string) => void;
  /** Makes a test of the payload. */
  onKeep: (payload: string) => void;
}

/** Runs the plugin with a payload that is typed in; it is part of no draft, and nothing keeps it. */
export class RunPanel {
  readonly element: HTMLElement;
  readonly #payload: HTMLTextAreaElement;
  readonly #run: HTMLButtonElement;
  readonly #result = new ResultView();

  constructor({ onRun, onKeep }: RunPanelOptions) {
    this.#payload = el('textarea', {
      id: 'run-payload',
      class: 'field payload',
      rows: '5',
      autocomplete: 'off',
      spellcheck: 'false',
      'aria-describedby': 'run-hint',
      oninput: () =>
        this.#result.run && (this.#result.stale = this.#result.run.payload !== this.#payload.value),
    });
    this.#run = el(
      'button',
      { type: 'button', class: 'button', onclick: () => onRun(this.#payload.value) },
      icon('run'),
      'Run',
    );
    const keep = el(
      'button',
      { type: 'button', class: 'button quiet', onclick: () => onKeep(this.#payload.value) },
      'Save as test',
    );
    this.element = el(
      'div',
      { class: 'run' },
      el('label', { for: 'run-payload' }, 'Payload'),
      this.#payload,
      el(
        'p',
        { id: 'run-hint', class: 'panel-hint' },
        'The text that the plugin is run with. It is not saved.',
      ),
      el('div', { class: 'panel-actions' }, this.#run, keep),
      this.#result.element,
    );
  }

  set busy(busy: boolean) {
    this.#run.setAttribute('aria-disabled', String(busy));
  }

  show(run: Run): void {
    this.#result.show(run);
    this.#result.stale = run.payload !== this.#payload.value;
  }

  /** Identifies the plugin's text as it is now: a result of another text is shown as outdated. */
  set sourceKey(sourceKey: string) {
    const { run } = this.#result;
    if (run) this.#result.stale = run.sourceKey !== sourceKey || run.payload !== this.#payload.value;
  }
}
