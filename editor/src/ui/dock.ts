import { type TemplateResult, html, nothing } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { type Icon, icon } from './icon.ts';
import { splitter } from './splitter.ts';

/**
 * All panels, in their order. Each has its place in what is rendered also while it has nothing to show: without, the focus, or a
 * click that was begun, would get to another panel when one appears before it.
 */
const PANELS = ['tests', 'run', 'build', 'types', 'versions', 'runs', 'assist'] as const;

export type PanelId = (typeof PANELS)[number];

export interface DockPanel {
  id: PanelId;
  label: string;
  /** Stands for the label where the tabs have little room. */
  icon?: Icon;
  /** Made only while the panel is in view. */
  content: () => unknown;
  /** A number beside the name; `label` says what it counts. */
  count?: { number: number; label: string; tone: 'calm' | 'bad' | 'good' } | undefined;
}

/** Which panel is in view, if one is, and what the user does about it. */
export interface DockState {
  /** The chosen panel. It is in view while the dock is open. */
  readonly shown: PanelId;
  readonly isOpen: boolean;
  /** Whether the panels are below the text. */
  readonly isStacked: boolean;
  show: (panel: PanelId) => void;
  /** Closes the dock, or opens it with the chosen panel. */
  toggle: (panel: PanelId) => void;
  /** Brings a panel into view, with the focus on its tab. */
  focus: (panel: PanelId) => void;
}

/** The panels beside the text, one at a time; by keyboard, arrows go from tab to tab. */
export function dockView(panels: readonly DockPanel[], dock: DockState): TemplateResult {
  const { frame } = texts();
  const shown = panels.find(({ id }) => id === dock.shown)?.id ?? 'tests';
  const places = PANELS.map((id) => panels.find((panel) => panel.id === id));
  const toggle = dock.isOpen ? frame.hidePanel : frame.showPanel;
  const handleKey = (event: KeyboardEvent) => {
    const panel = panelByKey(event, panels, shown);
    if (!panel) return;
    event.preventDefault();
    dock.focus(panel.id);
  };
  const tab = ({ id, label, count, icon: sign }: DockPanel) => {
    const isChosen = id === shown;
    return html`<button
      type="button"
      role="tab"
      class="dock-tab"
      id="tab-${id}"
      aria-controls="panel-${id}"
      aria-selected=${isChosen && dock.isOpen}
      tabindex=${isChosen ? 0 : -1}
      title=${sign ? label : nothing}
      @click=${() => dock.show(id)}
      @keydown=${handleKey}
    >
      ${sign ? html`${icon(sign)}<span class="dock-tab-name">${label}</span>` : label}<span
        class="count"
        data-tone=${count?.tone ?? 'calm'}
        title=${count?.label ?? nothing}
        ?hidden=${!count?.number}
        >${count?.tone === 'good' ? icon('pass') : nothing}${count?.number ?? 0}</span
      >
    </button>`;
  };
  return html`<aside class="side dock" aria-label=${frame.dock} data-open=${dock.isOpen}>
    ${splitter(dock.isStacked, dock.isOpen)}
    <div class="dock-bar">
      <div class="dock-tabs" role="tablist" aria-label=${frame.panels}>
        ${places.map((panel) => (panel ? tab(panel) : nothing))}
      </div>
      <button
        type="button"
        class="button icon-only dock-toggle"
        aria-label=${toggle}
        aria-expanded=${dock.isOpen}
        title=${toggle}
        @click=${() => dock.toggle(shown)}
      >
        ${icon('panel')}<span class="dock-name" aria-hidden="true">${frame.panels}</span>
      </button>
    </div>
    ${places.map((panel) => (panel ? panelView(panel, panel.id === shown && dock.isOpen) : nothing))}
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
