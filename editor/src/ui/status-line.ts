import { el } from './dom.ts';

/** How a state is shown. */
export interface StatusText {
  text: string;
  tone: 'calm' | 'busy' | 'good' | 'bad';
}

/** Several states in one line, in the given order. A screen reader reads out only the part that changed. */
export class StatusLine<Part extends string> {
  readonly element = el('p', { class: 'status', role: 'status', 'aria-atomic': 'false' });
  readonly #parts: ReadonlyMap<Part, HTMLElement>;

  constructor(parts: readonly Part[]) {
    this.#parts = new Map(parts.map((part) => [part, el('span', { class: `status-part status-${part}` })]));
    const spans = [...this.#parts.values()];
    this.element.append(...spans.flatMap((span, index) => (index ? [', ', span] : [span])));
  }

  show(part: Part, { text, tone }: StatusText): void {
    const span = this.#parts.get(part);
    if (!span || (span.textContent === text && span.dataset['tone'] === tone)) return;
    span.textContent = text;
    span.dataset['tone'] = tone;
    this.element.title = this.element.textContent ?? '';
    this.element.classList.toggle(
      'bad',
      [...this.#parts.values()].some(({ dataset }) => dataset['tone'] === 'bad'),
    );
  }
}
