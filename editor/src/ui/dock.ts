import { type TemplateResult, html, nothing } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import './dock-size.ts';
import { icon } from './icon.ts';

/**
 * All panels, in their order. Each has a place of its own in what is rendered, also while it has nothing to show: else the focus, or a
 * click that is on its way, would get to another panel when one appears before it.
 */
const PANELS = ['tests', 'run', 'build', 'types', 'versions', 'runs'] as const;

export interface DockPanel {
  id: (typeof PANELS)[number];
  label: string;
  /** Made only while the panel is in view. */
  content: () => unknown;
  /** A number beside the name; `label` says what it counts. */
  count?: { number: number; label: string; tone: 'calm' | 'bad' } | undefined;
}

/** Which panel is in view, if one is. */
export interface DockState {
  shown: string;
  isOpen: boolean;
}

export interface DockOptions {
  panels: readonly DockPanel[];
  state: DockState;
  /** The line that the user moves to resize the panels. */
  splitter: TemplateResult | typeof nothing;
  onChange: (state: DockState) => void;
  /** Moves the focus to a tab, once it is drawn. */
  onFocus: (id: string) => void;
}

/** The panels beside the text, one at a time; by keyboard, arrows go from tab to tab. */
export function dockView({ panels, state, splitter, onChange, onFocus }: DockOptions): TemplateResult {
  const { frame } = texts();
  const shown = (panels.find(({ id }) => id === state.shown) ?? panels[0])?.id ?? '';
  const places = PANELS.map((id) => panels.find((panel) => panel.id === id));
  const toggle = state.isOpen ? frame.hidePanel : frame.showPanel;
  const handleKey = (event: KeyboardEvent) => {
    const panel = panelByKey(event, panels, shown);
    if (!panel) return;
    event.preventDefault();
    onFocus(panel.id);
  };
  const tab = ({ id, label, count }: DockPanel) => {
    const isChosen = id === shown;
    return html`<button
      type="button"
      role="tab"
      class="dock-tab"
      id="tab-${id}"
      aria-controls="panel-${id}"
      aria-selected=${isChosen && state.isOpen}
      tabindex=${isChosen ? 0 : -1}
      @click=${() => onChange({ shown: id, isOpen: true })}
      @keydown=${handleKey}
    >
      ${label}<span
        class="count"
        data-tone=${count?.tone ?? 'calm'}
        title=${count?.label ?? nothing}
        ?hidden=${!count?.number}
        >${count?.number ?? 0}</span
      >
    </button>`;
  };
  return html`<aside class="side dock" aria-label=${frame.dock} data-open=${state.isOpen}>
    ${splitter}
    <div class="dock-bar">
      <div class="dock-tabs" role="tablist" aria-label=${frame.panels}>
        ${places.map((panel) => (panel ? tab(panel) : nothing))}
      </div>
      <button
        type="button"
        class="button icon-only dock-toggle"
        aria-label=${toggle}
        aria-expanded=${state.isOpen}
        title=${toggle}
        @click=${() => onChange({ shown, isOpen: !state.isOpen })}
      >
        ${icon('panel')}
      </button>
    </div>
    ${places.map((panel) => (panel ? panelView(panel, panel.id === shown && state.isOpen) : nothing))}
  </aside>`;
}

const panelView = ({ id, content }: DockPanel, isShown: boolean) =>
  html`<div
    class="dock-panel"
    role="tabpanel"
    id="panel-${id}"
    aria-labelledby="tab-${id}"
    ?hidden=${!isShown}
  >
    ${content()}
  </div>`;

/** The panel that a key on the tab of another one goes to; `undefined` for any other key. */
function panelByKey(
  { key, currentTarget }: KeyboardEvent,
  panels: readonly DockPanel[],
  shown: string,
): DockPanel | undefined {
  const at = panels.findIndex(({ id }) => id === shown);
  // Right is the next tab where the page is read from the left.
  const forward = getComputedStyle(currentTarget as Element).direction === 'rtl' ? -1 : 1;
  const to = { ArrowRight: at + forward, ArrowLeft: at - forward, Home: 0, End: panels.length - 1 }[key];
  return to === undefined ? undefined : panels[(to + panels.length) % panels.length];
}

/**
 * Scrolls the line of tabs to the chosen tab, which may be out of view in a narrow dock. Only that line is scrolled:
 * `scrollIntoView` could scroll the page around the editor, too.
 */
export function scrollToTab(id: string): void {
  const tab = document.getElementById(`tab-${id}`);
  const line = tab?.parentElement;
  if (!line) return;
  const [inner, outer] = [tab.getBoundingClientRect(), line.getBoundingClientRect()];
  if (inner.left < outer.left) line.scrollBy({ left: inner.left - outer.left });
  else if (inner.right > outer.right) line.scrollBy({ left: inner.right - outer.right });
}
