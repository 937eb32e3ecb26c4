import { type TemplateResult, html, nothing } from 'lit/html.js';
import { keyed } from 'lit/directives/keyed.js';
import { texts } from '../locales/locale.ts';

/** A button of a notice. */
export interface NoticeAction {
  label: string;
  run: () => void;
  primary?: boolean;
}

export interface Notice {
  text: string;
  /** A screen reader reads an `alert` at once, and a `note` when it has read what it is reading. */
  tone: 'alert' | 'note';
  actions?: readonly NoticeAction[];
}

interface Shown {
  /** A notice that is shown again gets another number and element, so that a screen reader reads it out again. */
  readonly number: number;
  /** Whether it only confirms something, so that the next confirmation replaces it. */
  readonly isPassing: boolean;
  readonly notice: () => Notice;
}

/** The notices above the text, at most one of each kind. */
export class Notices {
  /** Called after each change. */
  onChange: () => void = () => {};
  /** A kind that is hidden keeps its place, so that the others are not drawn anew and read out again. */
  readonly #shown = new Map<string, Shown | undefined>();
  #count = 0;

  /**
   * Shows a notice in place of the former one of its kind.
   * @param notice called anew for each drawing, because the language may change
   * @param isPassing whether it only confirms something, so that the next confirmation replaces it
   */
  show(kind: string, notice: () => Notice, { isPassing = false } = {}): void {
    if (isPassing) this.#hidePassing();
    this.#shown.set(kind, { number: ++this.#count, isPassing, notice });
    this.onChange();
  }

  hide(kind: string): void {
    if (!this.#shown.get(kind)) return;
    this.#shown.set(kind, undefined);
    this.onChange();
  }

  #hidePassing(): void {
    for (const [kind, shown] of this.#shown) if (shown?.isPassing) this.#shown.set(kind, undefined);
  }

  /** The button that hides a notice. */
  dismiss(kind: string): NoticeAction {
    return { label: texts().common.dismiss, run: () => this.hide(kind) };
  }

  view(): TemplateResult {
    const shown = [...this.#shown.values()];
    return html`<section class="notices" aria-label=${texts().common.messages}>
      ${shown.map((one) => (one ? keyed(one.number, noticeView(one.notice())) : nothing))}
    </section>`;
  }
}

function noticeView({ text, tone, actions = [] }: Notice): TemplateResult {
  const buttons = actions.map(
    ({ label, run, primary }) =>
      html`<button type="button" class=${primary ? 'button primary' : 'button'} @click=${run}>
        ${label}
      </button>`,
  );
  return html`<div class="notice ${tone}">
    <p role=${tone === 'alert' ? 'alert' : 'status'}>${text}</p>
    ${buttons.length ? html`<div class="notice-actions">${buttons}</div>` : nothing}
  </div>`;
}
