import type { BuilderClient, PluginSource } from 'plugin-editor/client.js';
import { LiveCheck } from '../code/live-check.ts';
import type { Finder } from '../code/problems.ts';
import { BuildLog } from '../pipeline/build-log.ts';
import { Pipeline, type PipelineOptions } from '../pipeline/pipeline.ts';
import type { Action, Obstacle } from '../pipeline/progress.ts';
import type { DraftStore } from '../service/draft-store.ts';
import type { PluginService } from '../service/plugin-service.ts';
import type { BuildResult, Deployed, Diagnostic } from '../service/records.ts';
import type { TestEntry, TestList } from '../tests/test-list.ts';
import type { Notices } from '../ui/notices.ts';
import { ActionNotices } from './action-notices.ts';
import { ServiceState } from './service-state.ts';
import { type RunReport, TestRuns } from './test-runs.ts';

/** Events about builds, tests and deployments, for the page around the editor. */
export interface ActionEvents {
  onBuild?: ((build: { succeeded: boolean; outputLog: string }) => void) | undefined;
  onTest?: ((test: RunReport) => void) | undefined;
  onDeploy?: ((deploy: { version: string; unchanged?: boolean }) => void) | undefined;
  /** Another version was made live; `null`: the newest again. */
  onLive?: ((version: string | null) => void) | undefined;
}

export interface ActionsOptions extends ActionEvents {
  service: PluginService;
  client: BuilderClient;
  store: DraftStore;
  queue: PipelineOptions['queue'] & { readonly isUnsaved: boolean };
  notices: Notices;
  tests: TestList;
  /** The source as it is in the editor. */
  read: () => PluginSource;
  /** Whether the service has no draft of the plugin yet. */
  isNew: boolean;
  /** Whether builds and checks may be asked for. */
  canWrite: () => boolean;
  /** Marks what a finder found in a text, in place of what it found before. */
  mark: (finder: Finder, found: readonly Diagnostic[], contents: string) => void;
  /** Marks what the grammar of the language finds. */
  markSyntax: () => void;
  /** Brings a panel into view. */
  showPanel: (panel: 'tests' | 'run' | 'build') => void;
  /** Brings the result of a test into view. */
  showResult: (entry: TestEntry) => void;
  /** What the page shows of this changed. */
  onChange: () => void;
}

/** Checks, builds, runs and deploys the plugin that is open, and reports the results. */
export class Actions {
  readonly pipeline: Pipeline;
  readonly serviceState: ServiceState;
  readonly testRuns: TestRuns;
  readonly log = new BuildLog();
  readonly #options: ActionsOptions;
  readonly #check: LiveCheck;
  readonly #notices: ActionNotices;

  constructor(options: ActionsOptions) {
    const { service, client, store, queue, tests, read, mark, onChange } = options;
    this.#options = options;
    this.#notices = new ActionNotices(options.notices, () => this.pipeline.stop());
    this.serviceState = new ServiceState({
      service,
      client,
      savedDraft: () => (queue.isUnsaved ? undefined : read()),
      onProgress: (progress, draft) => this.pipeline.applyProgress(progress, draft),
      onChange,
    });
    this.pipeline = new Pipeline({
      service,
      store,
      queue,
      read,
      isNew: options.isNew,
      canStream: () => this.serviceState.canStream,
      onChange: () => {
        if (this.pipeline.action === undefined) this.#notices.end();
        onChange();
      },
      onBuildStart: () => this.log.clear(),
      onLog: (text) => {
        this.log.add(text);
        onChange();
      },
      onBuild: (result, source) => this.#handleBuild(result, source),
      onDeploy: (deployed) => this.#handleDeploy(deployed),
      onObstacle: (action, obstacle) => this.#handleObstacle(action, obstacle),
      onBusy: (action, wait) => this.#notices.showBusy(action, wait),
    });
    this.testRuns = new TestRuns({
      pipeline: this.pipeline,
      tests,
      showPanel: options.showPanel,
      showResult: options.showResult,
      onBegin: (retry) => this.#begin(retry),
      onRun: (report) => options.onTest?.(report),
      onUnfinished: () => this.#showFailedBuild(),
      onChange,
    });
    this.#check = new LiveCheck({
      read,
      check: ({ lang, contents }, signal) => service.check(lang, contents, signal),
      onFound: (found) => {
        const { contents } = read();
        // The same compiler checks and builds, so a check of the present text replaces what was found before.
        mark('build', [], contents);
        mark('syntax', [], contents);
        mark('check', found, contents);
      },
      onUnable: options.markSyntax,
    });
  }

  /** Whether the plugin may be run here, and the service runs plugins. */
  get canTest(): boolean {
    return this.serviceState.canTest && this.#options.canWrite();
  }

  /** Begins to check the text and to ask the service. To be called once all that the options act on is in place. */
  start(): void {
    void this.serviceState.loadFeatures();
    if (!this.#options.isNew) {
      void this.serviceState.loadProgress();
      void this.serviceState.loadLive();
    }
    this.handleEdit();
  }

  /** The text was changed. */
  handleEdit(): void {
    if (this.#options.canWrite()) this.#check.schedule();
    this.#options.onChange();
  }

  /** The connection or the token is new, or the page is in view again. */
  resume(ended: readonly Obstacle[]): void {
    if (!this.pipeline.action) this.#notices.endObstacles(ended);
    this.serviceState.reload();
  }

  close(): void {
    this.serviceState.close();
    this.pipeline.stop();
    this.#check.close();
  }

  async build(): Promise<void> {
    this.#begin(() => void this.build());
    this.#options.showPanel('build');
    await this.pipeline.runBuild();
  }

  /** @param message what the version is for */
  async deploy(message = ''): Promise<void> {
    this.#begin(() => void this.deploy(message));
    if (!(await this.pipeline.runDeploy(message))) this.#showFailedBuild();
  }

  #begin(retry: () => void): void {
    if (this.pipeline.action) return;
    this.#notices.begin(retry);
    void this.serviceState.loadFeatures();
  }

  /** Where an action ended because the build failed, that is in the panel of builds. */
  #showFailedBuild(): void {
    if (this.pipeline.build.kind === 'failed') this.#options.showPanel('build');
  }

  #handleBuild(result: BuildResult, { contents }: PluginSource): void {
    const { mark, onBuild } = this.#options;
    const { succeeded, outputLog, diagnostics = [] } = result;
    this.serviceState.setOnline(true);
    mark('check', [], contents);
    mark('syntax', [], contents);
    mark('build', diagnostics, contents);
    this.log.complete(outputLog);
    onBuild?.({ succeeded, outputLog });
  }

  #handleDeploy(deployed: Deployed): void {
    const { version, unchanged, live } = deployed;
    this.serviceState.setOnline(true);
    if (live === undefined) void this.serviceState.loadLive();
    else this.serviceState.setLive(live ?? undefined, this.serviceState.isPinned);
    this.#notices.showDeployed(deployed);
    this.#options.onDeploy?.({ version, ...(unchanged ? { unchanged } : {}) });
  }

  #handleObstacle(action: Action, obstacle: Obstacle): void {
    if (obstacle === 'connection') this.serviceState.setOnline(false);
    const { payload } = this.testRuns;
    if (payload.isRunning) payload.obstacle = obstacle;
    this.#notices.showObstacle(action, obstacle);
  }
}
