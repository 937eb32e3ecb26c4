import { el } from './dom.ts';

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

/** The messages above the editor; each kind is there at most once. */
export class Notices {
  readonly element = el('section', { class: 'notices', 'aria-label': 'Messages' });
  readonly #shown = new Map<string, HTMLElement>();

  /** Shows a notice in place of the former one of its kind. */
  show(kind: string, { text, tone, actions = [] }: Notice): void {
    const buttons = actions.map(({ label, run, primary }) =>
      el('button', { type: 'button', class: primary ? 'button primary' : 'button', onclick: run }, label),
    );
    const notice = el(
      'div',
      { class: `notice ${tone}` },
      el('p', { role: tone === 'alert' ? 'alert' : 'status' }, text),
      ...(buttons.length ? [el('div', { class: 'notice-actions' }, ...buttons)] : []),
    );
    const former = this.#shown.get(kind);
    if (former) former.replaceWith(notice);
    else this.element.append(notice);
    this.#shown.set(kind, notice);
  }

  hide(kind: string): void {
    this.#shown.get(kind)?.remove();
    this.#shown.delete(kind);
  }
}
