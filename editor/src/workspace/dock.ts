import { type PanelId, scrollToTab } from '../ui/dock.ts';
import type { TestEntry } from '../tests/test-list.ts';
import { settings } from '../ui/settings.ts';
import type { PluginSession } from './plugin-session.ts';

/** The panels are below the text in a page of less width than this, in CSS pixels (styles/layout.css), else beside it. */
const stacked = matchMedia('(max-width: 759px)');

/** The panel that the user chose, and whether it was opened or closed; it holds for the next plugin, too. */
const chosen: { panel: PanelId; isOpen?: boolean } = { panel: 'tests' };

/** Which panel is in view, if one is, and where the focus goes in it. */
export class Dock {
  readonly #session: PluginSession;

  constructor(session: PluginSession) {
    this.#session = session;
    const { screen, signal } = session;
    stacked.addEventListener('change', () => screen.draw(), { signal });
    // A dock that has become narrower may have no room left for the chosen tab.
    const scroll = () => scrollToTab(this.shown);
    addEventListener('resize', scroll, { signal });
    signal.addEventListener('abort', settings.subscribe(scroll));
  }

  /** The chosen panel. It is in view while the dock is open. */
  get shown(): PanelId {
    return chosen.panel;
  }

  /** Until the user opens or closes it, it is open beside the text and closed below it. */
  get isOpen(): boolean {
    return chosen.isOpen ?? !stacked.matches;
  }

  /** Whether the panels are below the text. */
  get isStacked(): boolean {
    return stacked.matches;
  }

  isInView(panel: PanelId): boolean {
    return this.isOpen && this.shown === panel;
  }

  /** Brings a panel into view. */
  show(panel: PanelId): void {
    this.#set(panel, true);
  }

  /** Closes the dock, or opens it with the chosen panel. */
  toggle(panel: PanelId): void {
    this.#set(panel, !this.isOpen);
  }

  /** Brings a panel into view, with the focus on its tab. */
  focus(panel: PanelId): void {
    this.show(panel);
    this.#session.screen.draw(true);
    document.getElementById(`tab-${panel}`)?.focus();
  }

  /** Moves the focus to what `selector` finds in the row of a test, or without one in the panel. The text of an input is selected. */
  focusTest(entry: TestEntry | undefined, selector: string): void {
    this.#session.screen.draw(true);
    const place = document.querySelector(entry ? `.test-row[data-id="${entry.id}"]` : '.tests');
    const target = place?.querySelector<HTMLElement>(selector);
    target?.focus();
    if (target instanceof HTMLInputElement) target.select();
  }

  /** Scrolls to the result of a test, unless the user is typing in a field of that test, which must not move. */
  showResult(entry: TestEntry): void {
    this.#session.screen.draw(true);
    const row = document.querySelector(`.test-row[data-id="${entry.id}"]`);
    if (row?.querySelector('.field:focus')) return;
    row?.querySelector('.result')?.scrollIntoView({ block: 'nearest' });
  }

  /** Scrolls to the result of the payload. */
  showPayloadResult(): void {
    this.#session.screen.draw(true);
    document.querySelector('#panel-run .result')?.scrollIntoView({ block: 'nearest' });
  }

  #set(panel: PanelId, isOpen: boolean): void {
    Object.assign(chosen, { panel, isOpen });
    this.#session.screen.draw();
    // After that drawing, which is a microtask, too.
    queueMicrotask(() => {
      scrollToTab(panel);
      // The tab of the former panel would keep the ring, and the arrow keys would go on from there.
      if (document.activeElement?.matches('.dock-tab'))
        document.getElementById(`tab-${panel}`)?.focus({ preventScroll: true });
    });
  }
}
