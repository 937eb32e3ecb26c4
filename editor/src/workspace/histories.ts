import type { PluginSource, PluginTest } from 'plugin-editor/client.js';
import { html } from 'lit/html.js';
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
  const { service, actions, access } = options;
  const { serviceState } = actions;
  const ended = new AbortController();
  let versions: VersionsPanel | undefined;
  let runs: RunsPanel | undefined;
  let isLoadingVersions = false;
  let isLoadingRuns = false;

  const loadVersions = async () => {
    if (isLoadingVersions) return;
    isLoadingVersions = true;
    try {
      await loadPart(() => import('../versions/versions-panel.ts'));
      if (ended.signal.aborted) return;
      versions = document.createElement('versions-panel');
      versions.options = { ...options, serviceState, signal: ended.signal };
      options.onUpdate();
    } catch {
      // The panel still says that it loads, and tries again when it is drawn again.
      isLoadingVersions = false;
    }
  };
  const loadRuns = async () => {
    if (isLoadingRuns) return;
    isLoadingRuns = true;
    try {
      await loadPart(() => import('../runs/runs-panel.ts'));
      if (ended.signal.aborted) return;
      runs = document.createElement('runs-panel');
      runs.options = { ...options, service, signal: ended.signal };
      options.onUpdate();
    } catch {
      isLoadingRuns = false;
    }
  };
  const waiting = () => html`<p class="panel-empty panel-wait" role="status">${texts().common.loading}</p>`;

  return {
    panels: (isShown) => {
      if (!serviceState.hasVersions) return [];
      const { frame } = texts();
      const versionsPanel = {
        id: 'versions',
        label: frame.versions,
        content: () => {
          if (isShown('versions')) {
            void loadVersions();
            versions?.refresh(actions.pipeline.deployment, serviceState.live, serviceState.isPinned);
          } else versions?.leave();
          return versions ?? waiting();
        },
      };
      const runsPanel = {
        id: 'runs',
        label: frame.runs,
        content: () => {
          if (isShown('runs')) {
            void loadRuns();
            runs?.show();
          } else runs?.leave();
          return runs ?? waiting();
        },
      };
      return access().canSeeRuns ? [versionsPanel, runsPanel] : [versionsPanel];
    },
    close: () => ended.abort(),
  };
}
