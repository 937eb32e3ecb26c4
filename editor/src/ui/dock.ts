import { el, icon } from './dom.ts';

export interface DockPanel {
  id: string;
  label: string;
  content: HTMLElement;
}

interface Entry {
  tab: HTMLButtonElement;
  panel: HTMLElement;
  count: HTMLElement;
}

/** The panels beside the text, one at a time; by keyboard, arrows go from tab to tab. */
export class Dock {
  readonly element: HTMLElement;
  readonly #entries = new Map<string, Entry>();
  readonly #toggle: HTMLButtonElement;
  #shown: string;
  #open = true;

  /** `name` names the whole for a screen reader; `open` says whether a panel is in view at first. */
  constructor(name: string, panels: readonly [DockPanel, ...DockPanel[]], open: boolean) {
    this.#shown = panels[0].id;
    const list = el('div', { class: 'dock-tabs', role: 'tablist', 'aria-label': 'Panels' });
    this.#toggle = el(
      'button',
      { type: 'button', class: 'button icon-only dock-toggle', onclick: () => this.#setOpen(!this.#open) },
      icon('panel'),
    );
    const bodies = panels.map(({ id, label, content }) => {
      const count = el('span', { class: 'count', hidden: true });
      const tab = el(
        'button',
        {
          type: 'button',
          role: 'tab',
          class: 'dock-tab',
          id: `tab-${id}`,
          'aria-controls': `panel-${id}`,
          onclick: () => this.show(id),
          onkeydown: (event) => this.#move(event as KeyboardEvent),
        },
        label,
        count,
      );
      const panel = el(
        'div',
        { class: 'dock-panel', role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}` },
        content,
      );
      list.append(tab);
      this.#entries.set(id, { tab, panel, count });
      return panel;
    });
    this.element = el(
      'aside',
      { class: 'side dock', 'aria-label': name },
      el('div', { class: 'dock-bar' }, list, this.#toggle),
      ...bodies,
    );
    this.#setOpen(open);
  }

  get open(): boolean {
    return this.#open;
  }

  /** Whether a panel is in view. */
  shows(id: string): boolean {
    return this.#open && this.#shown === id;
  }

  show(id: string): void {
    this.#shown = id;
    this.#setOpen(true);
  }

  focus(id: string): void {
    this.show(id);
    this.#entries.get(id)?.tab.focus();
  }

  /** Takes a panel out of the choice, or back into it. */
  offer(id: string, offered: boolean): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    entry.tab.hidden = !offered;
    if (!offered && this.#shown === id) this.#shown = this.#offered()[0] ?? id;
    this.#arrange();
  }

  /** A number beside a panel's name; 0 for none, `words` for who cannot see it. */
  count(id: string, number: number, words: string, tone: 'calm' | 'bad' = 'calm'): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    entry.count.hidden = number === 0;
    entry.count.textContent = String(number);
    entry.count.dataset['tone'] = tone;
    entry.count.title = words;
  }

  #offered(): string[] {
    return [...this.#entries].filter(([, { tab }]) => !tab.hidden).map(([id]) => id);
  }

  #setOpen(open: boolean): void {
    this.#open = open;
    const name = open ? 'Hide the panel' : 'Show the panel';
    this.#toggle.setAttribute('aria-label', name);
    this.#toggle.setAttribute('aria-expanded', String(open));
    this.#toggle.title = name;
    this.#arrange();
  }

  #arrange(): void {
    this.element.dataset['open'] = String(this.#open);
    for (const [id, { tab, panel }] of this.#entries) {
      const chosen = id === this.#shown;
      tab.setAttribute('aria-selected', String(chosen && this.#open));
      tab.tabIndex = chosen ? 0 : -1;
      panel.hidden = !chosen || !this.#open;
    }
  }

  #move(event: KeyboardEvent): void {
    const ids = this.#offered();
    const at = ids.indexOf(this.#shown);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: ids.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const id = ids[(to + ids.length) % ids.length];
    if (id) this.focus(id);
  }
}
