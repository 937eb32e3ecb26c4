import type { PluginSource, PluginTest } from 'plugin-editor/client.js';
import { type TemplateResult, html } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import type { PluginService } from '../service/plugin-service.ts';
import type { DockPanel } from '../ui/dock.ts';
import { loadPart } from '../ui/load-part.ts';
import type { Notices } from '../ui/notices.ts';
import type { RunsPanel } from '../runs/runs-panel.ts';
import type { VersionsPanel } from '../versions/versions-panel.ts';
import type { Access } from './access.ts';
import type { Actions } from './actions.ts';

export interface HistoriesOptions {
  service: PluginService;
  actions: Actions;
  notices: Notices;
  access: () => Access;
  /** The source as it is in the editor. */
  current: () => PluginSource;
  /** Puts a source in place of the one in the editor, and saves it. */
  restore: (source: PluginSource) => void;
  addTest: (test: PluginTest) => void;
  onJump: (line: number, column: number) => void;
  /** Another version was made live; `null`: the newest again. */
  onLive: (version: string | null) => void;
  /** The panels must be drawn anew. */
  onUpdate: () => void;
}

/** The panels of versions and runs. */
export interface Histories {
  /** The panels that the service has data for. `isShown` says whether a panel is in view. */
  panels: (isShown: (id: string) => boolean) => DockPanel[];
  close: () => void;
}

/** Makes the panels of versions and runs, each loaded when it comes into view for the first time. */
export function createHistories(options: HistoriesOptions): Histories {
  const { service, actions, access, onUpdate } = options;
  const { serviceState } = actions;
  const ended = new AbortController();
  const { signal } = ended;
  const versions = new LazyPanel<VersionsPanel>(onUpdate, async () => {
    await loadPart(() => import('../versions/versions-panel.ts'));
    const panel = document.createElement('versions-panel');
    panel.options = { ...options, serviceState, signal };
    return panel;
  });
  const runs = new LazyPanel<RunsPanel>(onUpdate, async () => {
    await loadPart(() => import('../runs/runs-panel.ts'));
    const panel = document.createElement('runs-panel');
    panel.options = { ...options, service, signal };
    return panel;
  });
  const showVersions = (panel: VersionsPanel) =>
    panel.refresh(actions.pipeline.deployment, serviceState.live, serviceState.isPinned);

  return {
    panels: (isShown) => {
      if (!serviceState.hasVersions) return [];
      const { frame } = texts();
      const versionsPanel: DockPanel = {
        id: 'versions',
        label: frame.versions,
        content: () => versions.content(isShown('versions'), showVersions),
      };
      const runsPanel: DockPanel = {
        id: 'runs',
        label: frame.runs,
        content: () => runs.content(isShown('runs'), (panel) => panel.show()),
      };
      return access().canSeeRuns ? [versionsPanel, runsPanel] : [versionsPanel];
    },
    close: () => ended.abort(),
  };
}

/** A panel that is loaded when it comes into view for the first time. */
class LazyPanel<Panel extends HTMLElement & { leave: () => void }> {
  readonly #onLoad: () => void;
  readonly #load: () => Promise<Panel>;
  #panel: Panel | undefined;
  #isLoading = false;

  constructor(onLoad: () => void, load: () => Promise<Panel>) {
    this.#onLoad = onLoad;
    this.#load = load;
  }

  /** What to draw: the panel, or that it is being loaded. `show` is called for each drawing while the panel is in view. */
  content(isShown: boolean, show: (panel: Panel) => void): Panel | TemplateResult {
    if (isShown && !this.#panel) void this.#loadOnce();
    if (this.#panel && isShown) show(this.#panel);
    else this.#panel?.leave();
    return this.#panel ?? html`<p class="panel-empty panel-wait" role="status">${texts().common.loading}</p>`;
  }

  async #loadOnce(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      this.#panel = await this.#load();
      this.#onLoad();
    } catch {
      // The panel still says that it loads, and tries again when it is drawn again.
      this.#isLoading = false;
    }
  }
}
