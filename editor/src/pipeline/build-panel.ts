import { el, icon } from '../ui/dom.ts';
import type { Problem } from '../code/problems.ts';

const finders = {
  build: 'found by the build',
  check: 'found as you type',
  syntax: 'found as you type',
} as const;
const severities = { error: 'Error', warning: 'Warning', info: 'Note' } as const;

/** A longer log loses its beginning. */
const LONGEST_LOG = 200_000;

/** The problems of the text, each a way to its place; and what the last build said. */
export class BuildPanel {
  readonly element: HTMLElement;
  readonly #none = el('p', { class: 'panel-empty' }, 'No problems are known in this text.');
  readonly #list = el('ul', { class: 'problems', 'aria-label': 'Problems' });
  readonly #log = el('pre', { class: 'output log', tabindex: '0', role: 'log', 'aria-label': 'Build log' });
  readonly #state = el('p', { class: 'panel-empty' }, 'Nothing was built since the plugin was opened.');
  readonly #onJump: (problem: Problem) => void;
  #shown = '';

  constructor(onJump: (problem: Problem) => void) {
    this.#onJump = onJump;
    this.#log.hidden = true;
    this.element = el(
      'div',
      { class: 'build' },
      el('h2', {}, 'Problems'),
      this.#none,
      this.#list,
      el('h2', {}, 'Build log'),
      this.#state,
      this.#log,
    );
    this.problems = [];
  }

  set problems(problems: readonly Problem[]) {
    // They move with each letter that is typed; only what reads otherwise is made anew.
    const shown = JSON.stringify(problems);
    this.#none.hidden = problems.length > 0;
    this.#list.hidden = problems.length === 0;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const focused = [...this.#list.children].findIndex((item) => item.contains(document.activeElement));
    this.#list.replaceChildren(...problems.map((problem) => this.#item(problem)));
    if (focused >= 0)
      this.#list.children[Math.min(focused, problems.length - 1)]?.querySelector('button')?.focus();
  }

  /** A build begins. */
  start(): void {
    this.#log.textContent = '';
    this.#log.hidden = true;
    this.#say('Building…');
  }

  /** What a build says while it runs. */
  log(text: string): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#log;
    const atEnd = scrollHeight - scrollTop - clientHeight < 24;
    this.#log.hidden = false;
    const said = (this.#log.textContent ?? '') + (text.endsWith('\n') ? text : `${text}\n`);
    this.#log.textContent = said.length > LONGEST_LOG ? `…${said.slice(-LONGEST_LOG)}` : said;
    if (atEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }

  /** A build ended, in words. `log` is all that it said, where it says that at its end. */
  end(text: string, log = ''): void {
    if (log && log.trimEnd() !== (this.#log.textContent ?? '').trimEnd()) {
      this.#log.textContent = '';
      this.log(log);
    }
    this.#say(text);
  }

  #say(text: string): void {
    this.#state.textContent = text;
  }

  #item(problem: Problem): HTMLElement {
    const { line, column, message, severity, finder } = problem;
    return el(
      'li',
      {},
      el(
        'button',
        { type: 'button', class: `problem ${severity}`, onclick: () => this.#onJump(problem) },
        icon(severity === 'error' ? 'fail' : 'warning'),
        el('span', { class: 'visually-hidden' }, `${severities[severity]}: `),
        el('span', { class: 'problem-text' }, message),
        el('span', { class: 'problem-place' }, `Line ${line}, column ${column}, ${finders[finder]}`),
      ),
    );
  }
}
