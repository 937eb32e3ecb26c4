import { type TemplateResult, html, nothing } from 'lit/html.js';
import { keyed } from 'lit/directives/keyed.js';
import { texts } from '../locales/locale.ts';
import { loadModule } from './lazy-module.ts';

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
  readonly isTransient: boolean;
  readonly notice: () => Notice;
}

/** The notice that a module could not be loaded. */
const MISSING = 'module';

/** The notices: at most one of each kind, of which one is in view, alerts before notes and the newest first. */
export class Notices {
  readonly #onChange: () => void;
  readonly #shown = new Map<string, Shown>();
  #count = 0;
  /** The number of the notice in view. */
  #inView: number | undefined;
  /** What had the focus before a button of a notice. */
  #before: HTMLElement | undefined;

  /** `onChange` is called after each change. */
  constructor(onChange: () => void = () => {}) {
    this.#onChange = onChange;
  }

  /**
   * Shows a notice, which replaces the former one of its kind.
   * @param notice called anew for each drawing, because the language may change
   * @param isTransient whether it only confirms something, so that the next confirmation replaces it
   */
  show(kind: string, notice: () => Notice, { isTransient = false } = {}): void {
    if (isTransient) this.#hidePassing();
    this.#shown.set(kind, { number: ++this.#count, isTransient, notice });
    this.#onChange();
  }

  hide(kind: string): void {
    if (!this.#shown.has(kind)) return;
    this.#shown.delete(kind);
    this.#onChange();
  }

  #hidePassing(): void {
    for (const [kind, shown] of this.#shown) if (shown.isTransient) this.#shown.delete(kind);
  }

  /** The button that hides a notice. */
  dismiss(kind: string): NoticeAction {
    return { label: texts().common.dismiss, run: () => this.hide(kind) };
  }

  /** Loads a module that the user's action needs. Where it cannot be loaded, shows a notice and resolves with `undefined`. */
  loadModule<Module>(load: () => Promise<Module>): Promise<Module | undefined> {
    return this.notifyIfMissing(loadModule(load));
  }

  /** Waits for the loading of a module that the user's action needs. Where it rejects, shows a notice and resolves with `undefined`. */
  async notifyIfMissing<T>(loading: Promise<T>): Promise<T | undefined> {
    this.hide(MISSING);
    try {
      return await loading;
    } catch {
      this.show(MISSING, () => ({
        tone: 'alert',
        text: texts().app.moduleMissing,
        actions: [this.dismiss(MISSING)],
      }));
      return undefined;
    }
  }

  view(): TemplateResult {
    const newest = [...this.#shown.values()].toSorted((a, b) => b.number - a.number);
    const shown = newest.find((one) => one.notice().tone === 'alert') ?? newest[0];
    if (shown?.number !== this.#inView && document.activeElement?.closest('.notice')) this.#before?.focus();
    this.#inView = shown?.number;
    return html`<section
      class="notices"
      aria-label=${texts().common.messages}
      @focusin=${({ currentTarget, relatedTarget }: FocusEvent) => {
        if (relatedTarget instanceof HTMLElement && !(currentTarget as Element).contains(relatedTarget))
          this.#before = relatedTarget;
      }}
    >
      ${shown ? keyed(shown.number, this.#noticeView(shown.notice())) : nothing}
    </section>`;
  }

  #noticeView({ text, tone, actions = [] }: Notice): TemplateResult {
    const buttons = actions.map(
      ({ label, run, primary }) =>
        html`<button
          type="button"
          class=${primary ? 'button primary' : 'button'}
          @click=${() => {
            // The button may go with its notice. The focus goes back first, because the action may move it elsewhere.
            this.#before?.focus();
            this.#before = undefined;
            run();
          }}
        >
          ${label}
        </button>`,
    );
    return html`<div class="notice ${tone}">
      <p role=${tone === 'alert' ? 'alert' : 'status'}>${text}</p>
      ${buttons.length ? html`<div class="notice-actions">${buttons}</div>` : nothing}
    </div>`;
  }
}
