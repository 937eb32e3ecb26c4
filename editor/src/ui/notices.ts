import { type TemplateResult, html, nothing } from 'lit/html.js';
import { keyed } from 'lit/directives/keyed.js';
import { texts } from '../locales/locale.ts';

/** Something the user can do about a notice. */
export interface NoticeAction {
  label: string;
  run: () => void;
  primary?: boolean;
}

export interface Notice {
  text: string;
  /** `alert` is read out at once, `note` when the reader is free. */
  tone: 'alert' | 'note';
  actions?: readonly NoticeAction[];
}

interface Shown {
  /** Each showing is another element, so that a screen reader reads it out. */
  readonly number: number;
  /** Only confirms something: the next confirmation takes its place. */
  readonly isPassing: boolean;
  readonly notice: () => Notice;
}

/** The messages above the editor; each kind is there at most once. */
export class Notices {
  /** Called after each change. */
  onChange: () => void = () => {};
  /** A kind that was shown keeps its place, so that no other is drawn anew, and read out again, when it goes. */
  readonly #shown = new Map<string, Shown | undefined>();
  #count = 0;

  /**
   * Shows a notice in place of the former one of its kind. It is asked for anew when the language changes.
   * @param isPassing whether it only confirms something, so that the next confirmation takes its place
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

  /** What ends a notice, for its buttons. */
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
