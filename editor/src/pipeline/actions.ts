import { BuilderClient, HttpError, type PluginSource } from 'plugin-editor/client.js';
import { sourceKeyOf } from '../plugin/source.ts';
import { BuildPanel } from './build-panel.ts';
import type { DraftStore } from '../service/draft-store.ts';
import { LiveCheck } from '../code/live-check.ts';
import type { Notices } from '../ui/notices.ts';
import { type Action, Pipeline, type PipelineOptions, type Run } from './pipeline.ts';
import { type Obstacle, obstacleAdvice } from './progress.ts';
import type { Finder, Problem } from '../code/problems.ts';
import { passed } from './result-view.ts';
import { RunPanel } from './run-panel.ts';
import type { PluginService } from '../service/plugin-service.ts';
import type { BuildResult, Deployed, Diagnostic } from '../service/records.ts';
import type { TestItem } from './test-item.ts';
import type { TestsPanel } from './tests-panel.ts';

/** Events about builds, tests and deployments, for the page around the editor. */
export interface ActionEvents {
  onBuild?: ((build: { succeeded: boolean; outputLog: string }) => void) | undefined;
  /** One test ended, or the run of a payload, which has no name. */
  onTest?: ((test: { name?: string; result?: string; error?: unknown }) => void) | undefined;
  onDeploy?: ((deploy: { version: string }) => void) | undefined;
}

export interface ActionsOptions extends ActionEvents {
  service: PluginService;
  client: BuilderClient;
  store: DraftStore;
  queue: PipelineOptions['queue'] & { readonly unsaved: boolean };
  notices: Notices;
  tests: TestsPanel;
  read: () => PluginSource;
  isNew: boolean;
  mark: (finder: Finder, found: readonly Diagnostic[], contents: string) => void;
  markSyntax: () => void;
  onJump: (problem: Problem) => void;
  /** Brings a panel into view. */
  show: (panel: 'tests' | 'run' | 'build') => void;
  /** What is built, deployed, under way or offered changed. */
  onState: () => void;
}

const NOTICE = 'action';

/** Building, running and deploying the plugin that is open, and the panels that show it. */
export class Actions {
  readonly pipeline: Pipeline;
  readonly buildPanel: BuildPanel;
  readonly runPanel: RunPanel;
  readonly #options: ActionsOptions;
  readonly #check: LiveCheck;
  #features: ReadonlySet<string> | undefined;
  #problems: readonly Problem[] = [];
  /** Whether the builder can say how far the plugin is, as far as is known. */
  #progressKnown = true;
  #closed = new AbortController();
  #again: () => void = () => {};
  /** The notice says that the service is busy: true only while that is waited for. */
  #showsBusy = false;

  constructor(options: ActionsOptions) {
    const { service, store, queue, read, mark, markSyntax, onJump, tests } = options;
    this.#options = options;
    this.buildPanel = new BuildPanel(onJump);
    this.runPanel = new RunPanel({
      onRun: (payload) => void this.runPayload(payload),
      onKeep: (payload) => {
        options.show('tests');
        tests.add(payload);
      },
    });
    this.pipeline = new Pipeline({
      service,
      store,
      queue,
      read,
      isNew: options.isNew,
      streams: () => this.#features?.has('stream_builds') ?? false,
      onState: () => this.update(),
      onBuildStart: () => this.buildPanel.start(),
      onLog: (text) => this.buildPanel.log(text),
      onBuild: (result, source) => this.#built(result, source),
      onDeploy: (deployed) => this.#deployed(deployed),
      onObstacle: (action, obstacle) => this.#obstacle(action, obstacle),
      onBusy: (action, wait) => this.#busy(action, wait),
    });
    this.#check = new LiveCheck({
      read,
      check: ({ lang, contents }, signal) => service.check(lang, contents, signal),
      onFound: (found) => {
        const { contents } = read();
        // What checks is what builds: its word on the text as it is takes the place of older ones.
        mark('build', [], contents);
        mark('syntax', [], contents);
        mark('check', found, contents);
      },
      onUnable: markSyntax,
    });
  }

  /** Begins to check and to ask; what it shows by must be in place. */
  start(): void {
    void this.#loadFeatures();
    if (!this.#options.isNew) void this.#loadProgress();
    this.changed();
  }

  /** Whether the builder runs plugins; not before it has said so. */
  get testing(): boolean {
    return this.#features?.has('testing') ?? false;
  }

  get problems(): readonly Problem[] {
    return this.#problems;
  }

  set problems(problems: readonly Problem[]) {
    this.#problems = problems;
    this.buildPanel.problems = problems;
    this.#options.onState();
  }

  /** The text or a test was changed. */
  changed(): void {
    this.#check.changed();
    this.update();
  }

  update(): void {
    const { tests, read, onState } = this.#options;
    const busy = this.pipeline.action !== undefined;
    const sourceKey = sourceKeyOf(read());
    if (!busy && this.#showsBusy) {
      this.#showsBusy = false;
      this.#options.notices.hide(NOTICE);
    }
    tests.runs = { offered: this.testing, busy };
    tests.sourceKey = sourceKey;
    this.runPanel.busy = busy;
    this.runPanel.sourceKey = sourceKey;
    onState();
  }

  /** The connection or the token is new. */
  resume(): void {
    if (!this.pipeline.action) this.#options.notices.hide(NOTICE);
    void this.#loadFeatures();
    if (this.#progressKnown) void this.#loadProgress();
  }

  close(): void {
    this.#closed.abort();
    this.pipeline.stop();
    this.#check.close();
  }

  async build(): Promise<void> {
    this.#begin(() => void this.build());
    this.#options.show('build');
    await this.pipeline.runBuild();
  }

  async deploy(): Promise<void> {
    this.#begin(() => void this.deploy());
    if (!(await this.pipeline.runDeploy())) this.#showFailure();
  }

  async runTests(items: readonly TestItem[]): Promise<void> {
    const { tests, show, onTest } = this.#options;
    if (!items.length || this.pipeline.action) return;
    this.#begin(() => void this.runTests(items));
    show('tests');
    for (const item of items) item.wait();
    tests.summary = items.length > 1 ? `Running ${items.length} tests…` : 'Running…';
    const runs: Run[] = [];
    const all = await this.pipeline.runTests(
      items.map(({ test }) => test.payload ?? ''),
      (index, run) => {
        const item = items[index];
        runs.push(run);
        item?.show(run, items.length === 1);
        tests.summary = items.length > 1 ? `${runs.length} of ${items.length} run…` : '';
        onTest?.({ ...(item ? { name: item.title } : {}), ...outcome(run) });
      },
    );
    for (const item of items) item.settle();
    tests.summary = summary(runs, items.length);
    if (!all) this.#showFailure();
  }

  async runPayload(payload: string): Promise<void> {
    const { show, onTest } = this.#options;
    if (this.pipeline.action) return;
    this.#begin(() => void this.runPayload(payload));
    show('run');
    const done = await this.pipeline.runTests([payload], (_, run) => {
      this.runPanel.show(run);
      onTest?.(outcome(run));
    });
    if (!done) this.#showFailure();
  }

  /** Learns what the builder supports, until it has said so. */
  async #loadFeatures(): Promise<void> {
    if (this.#features) return;
    try {
      const { features } = await this.#options.client.getFeatures({ signal: this.#closed.signal });
      this.#features = new Set(features);
      this.update();
    } catch {
      // What is not known to be there is not offered; the next action, or a connection that is back, asks again.
    }
  }

  /** Learns what is built and deployed, by this page or another. */
  async #loadProgress(): Promise<void> {
    const { service, read, queue } = this.#options;
    const draft = queue.unsaved ? undefined : read();
    try {
      this.pipeline.learn(await service.progress(this.#closed.signal), draft);
    } catch (error) {
      // What is not known is not said. A builder that cannot say it is not asked again.
      if (error instanceof HttpError && error.status === 404) this.#progressKnown = false;
    }
  }

  #begin(again: () => void): void {
    if (this.pipeline.action) return;
    this.#again = again;
    this.#options.notices.hide(NOTICE);
    void this.#loadFeatures();
  }

  /** A build that stood in the way shows why. */
  #showFailure(): void {
    if (this.pipeline.build.kind === 'failed') this.#options.show('build');
  }

  #built(result: BuildResult, { contents }: PluginSource): void {
    const { mark, onBuild } = this.#options;
    const { succeeded, outputLog, diagnostics = [] } = result;
    mark('check', [], contents);
    mark('syntax', [], contents);
    mark('build', diagnostics, contents);
    this.buildPanel.end(succeeded ? 'The build succeeded.' : 'The build failed.', outputLog);
    onBuild?.({ succeeded, outputLog });
  }

  #deployed({ version, unchanged }: Deployed): void {
    const { notices, onDeploy } = this.#options;
    this.#showsBusy = false;
    notices.show(NOTICE, {
      tone: 'note',
      text: unchanged
        ? `${version} is deployed already: nothing changed since.`
        : `Deployed as ${version}. It stays as it is; the next deployment makes another version.`,
      actions: [{ label: 'Dismiss', run: () => notices.hide(NOTICE) }],
    });
    onDeploy?.({ version });
  }

  #obstacle(action: Action, obstacle: Obstacle): void {
    const { notices } = this.#options;
    this.#showsBusy = false;
    const advice = obstacleAdvice(action, obstacle);
    if (this.pipeline.build.kind === 'unfinished') this.buildPanel.end('The build came to no end.');
    if (!advice) return notices.hide(NOTICE);
    const dismiss = { label: 'Dismiss', run: () => notices.hide(NOTICE) };
    const again = { label: 'Try again', primary: true, run: () => this.#again() };
    const actions = advice.again ? [again, dismiss] : [dismiss];
    notices.show(NOTICE, { tone: 'alert', text: advice.text, actions });
  }

  #busy(action: Action, wait: number): void {
    const { notices } = this.#options;
    this.#showsBusy = true;
    const seconds = Math.max(1, Math.round(wait / 1000));
    notices.show(NOTICE, {
      tone: 'note',
      text: `The service is busy. Trying again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
      actions: [
        {
          label: `Stop the ${{ build: 'build', test: 'run', deploy: 'deployment' }[action]}`,
          run: () => this.pipeline.stop(),
        },
      ],
    });
  }
}

const outcome = ({ answer }: Run) =>
  'error' in answer ? { error: answer.error } : { result: answer.result };

function summary(runs: readonly Run[], length: number): string {
  const good = runs.filter(passed).length;
  const bad = runs.length - good;
  const parts = [
    ...(good ? [`${good} passed`] : []),
    ...(bad ? [`${bad} failed`] : []),
    ...(runs.length < length ? [`${length - runs.length} not run`] : []),
  ];
  return parts.join(', ');
}
