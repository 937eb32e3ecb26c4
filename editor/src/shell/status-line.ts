import { el } from '../ui/dom.ts';
import type { SaveWords } from '../draft/save-words.ts';

const parts = ['saved', 'built', 'deployed'] as const;

/** What is saved, built and deployed, in one line; who listens hears the part that changed. */
export class StatusLine {
  readonly element = el('p', { class: 'status', role: 'status', 'aria-atomic': 'false' });
  readonly #parts = new Map(parts.map((part) => [part, el('span', { class: `status-part status-${part}` })]));

  constructor() {
    const spans = [...this.#parts.values()];
    this.element.append(...spans.flatMap((span, index) => (index ? [', ', span] : [span])));
  }

  show(part: (typeof parts)[number], { text, tone }: SaveWords): void {
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
