import { el, icon } from '../ui/dom.ts';
import { loadPart } from '../ui/load-part.ts';
import type { Run } from './pipeline.ts';

/** A longer text is cut until the user asks for all of it: an answer may be a megabyte. */
const CUT = 20_000;

/** What one run gave: passed or not, how long it took, its answer, its logs, and what changed since the run before. */
export class ResultView {
  readonly element = el('div', { class: 'result' });
  readonly #stale = el('p', { class: 'result-stale' }, 'From before the last change.');
  /** Later contents that are still on their way are for this run. */
  #run: Run | undefined;

  constructor() {
    this.clear();
  }

  get run(): Run | undefined {
    return this.#run;
  }

  clear(): void {
    this.#run = undefined;
    this.element.hidden = true;
    this.element.replaceChildren();
  }

  /** Whether the text or the payload changed since the run that is shown. */
  set stale(stale: boolean) {
    this.#stale.hidden = !stale;
  }

  show(run: Run): void {
    const before = this.#run;
    this.#run = run;
    const { answer } = run;
    const change = el('div', { class: 'result-change' });
    this.#stale.hidden = true;
    this.element.hidden = false;
    this.element.dataset['tone'] = passed(run) ? 'good' : 'bad';
    this.element.replaceChildren(
      el(
        'p',
        { class: 'result-head' },
        icon(passed(run) ? 'pass' : 'fail'),
        el('strong', {}, passed(run) ? 'Passed' : 'Failed'),
        el('span', { class: 'result-time' }, duration(run.took)),
      ),
      this.#stale,
      ...('error' in answer
        ? section(answer.error.code ? `Error: ${answer.error.code}` : 'Error', answer.error.message)
        : section('Answer', answer.result)),
      change,
      ...(answer.logs.length ? [logs(answer.logs)] : []),
    );
    if (before) void this.#compare(before, run, change);
  }

  async #compare(before: Run, run: Run, place: HTMLElement): Promise<void> {
    const [was, is] = [comparable(before), comparable(run)];
    if (was === is) {
      place.append(el('p', { class: 'result-same' }, 'The same as in the run before.'));
      return;
    }
    const part = await loadPart(() => import('./difference-view.ts')).catch(() => undefined);
    // Without it the answer is there to read all the same.
    if (!part || this.#run !== run) return;
    const other = before.payload === run.payload ? '' : ' (its payload was another)';
    place.append(
      el('p', { class: 'result-label' }, `Changed since the run before${other}`),
      part.differenceView(was, is),
    );
  }
}

export const passed = ({ answer }: Run): boolean => !('error' in answer);

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** A time in ms, as one reads it. */
export const duration = (ms: number): string =>
  ms < 1000 ? `${(ms < 10 ? fine : whole).format(ms)} ms` : `${fine.format(ms / 1000)} s`;

/** All that a run gave, as one text to compare. */
function comparable({ answer }: Run): string {
  const end = 'error' in answer ? `${answer.error.code ?? 'error'}: ${answer.error.message}` : answer.result;
  return answer.logs.length ? `${end}\n\nLogs:\n${answer.logs.join('\n')}` : end;
}

function section(title: string, text: string): HTMLElement[] {
  if (!text)
    return [el('p', { class: 'result-label' }, title), el('p', { class: 'result-empty' }, 'The empty text')];
  return [el('p', { class: 'result-label' }, title), ...textView(title, text)];
}

function logs(lines: readonly string[]): HTMLElement {
  const title = lines.length === 1 ? 'Logs: one entry' : `Logs: ${lines.length} entries`;
  return el(
    'details',
    { class: 'result-logs', open: true },
    el('summary', {}, title),
    ...textView('Logs', lines.join('\n')),
  );
}

function textView(label: string, text: string): HTMLElement[] {
  const view = el('pre', { class: 'output', tabindex: '0', role: 'group', 'aria-label': label });
  if (text.length <= CUT) {
    view.textContent = text;
    return [view];
  }
  view.textContent = text.slice(0, CUT);
  const all = el(
    'button',
    {
      type: 'button',
      class: 'button quiet',
      onclick: () => {
        view.textContent = text;
        view.focus();
        all.remove();
      },
    },
    `Show all ${whole.format(text.length)} characters`,
  );
  return [view, all];
}
