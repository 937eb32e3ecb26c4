import { BuilderClient, HttpError, type PluginSource } from 'plugin-editor/client.js';
import { LiveCheck } from '../code/live-check.ts';
import type { Finder } from '../code/problems.ts';
import { texts } from '../locales/locale.ts';
import { BuildLog } from '../pipeline/build-log.ts';
import { Pipeline, type PipelineOptions, type Run } from '../pipeline/pipeline.ts';
import { type Action, type Obstacle, obstacleAdvice } from '../pipeline/progress.ts';
import type { DraftStore } from '../service/draft-store.ts';
import { failureOf } from '../service/failure.ts';
import type { PluginService } from '../service/plugin-service.ts';
import type { BuildResult, Deployed, Diagnostic } from '../service/records.ts';
import type { PayloadRun } from '../tests/run-panel.ts';
import type { TestEntry, TestList } from '../tests/test-list.ts';
import { expectedOf, verdictOf } from '../tests/verdict.ts';
import type { Notice, Notices } from '../ui/notices.ts';
import { Connection } from './connection.ts';

/** Events about builds, tests and deployments, for the page around the editor. */
export interface ActionEvents {
  onBuild?: ((build: { succeeded: boolean; outputLog: string }) => void) | undefined;
  /** One test ended, or the run of a payload, which has no name. `passed`: where the test asserts something. */
  onTest?:
    ((test: { name?: string; result?: string; error?: unknown; passed?: boolean }) => void) | undefined;
  onDeploy?: ((deploy: { version: string; unchanged?: boolean }) => void) | undefined;
  /** Another version was made live; `null`: the newest again. */
  onLive?: ((version: string | null) => void) | undefined;
}

export interface ActionsOptions extends ActionEvents {
  service: PluginService;
  client: BuilderClient;
  store: DraftStore;
  queue: PipelineOptions['queue'] & { readonly unsaved: boolean };
  notices: Notices;
  tests: TestList;
  read: () => PluginSource;
  isNew: boolean;
  /** Whether builds and checks may be asked for. */
  canWrite: () => boolean;
  mark: (finder: Finder, found: readonly Diagnostic[], contents: string) => void;
  markSyntax: () => void;
  /** Brings a panel into view. */
  show: (panel: 'tests' | 'run' | 'build') => void;
  /** Brings what a test gave into view. */
  showResult: (entry: TestEntry) => void;
  /** What is built, deployed, under way or offered changed. */
  onState: () => void;
}

const NOTICE = 'action';

/** Building, running and deploying the plugin that is open, and what is known of it. */
export class Actions {
  readonly pipeline: Pipeline;
  readonly log = new BuildLog();
  readonly payload: PayloadRun = { payload: '', isRunning: false };
  readonly #options: ActionsOptions;
  readonly #check: LiveCheck;
  readonly #connection: Connection;
  #features: ReadonlySet<string> | undefined;
  #testing: { done: number; all: number } | undefined;
  #live: string | undefined;
  #isPinned = false;
  #knowsVersions = false;
  /** Whether the builder can say how far the plugin is, as far as is known. */
  #progressKnown = true;
  #closed = new AbortController();
  #again: () => void = () => {};
  /** The notice says that the service is busy: true only while that is waited for. */
  #showsBusy = false;

  constructor(options: ActionsOptions) {
    const { service, store, queue, read, mark, markSyntax } = options;
    this.#options = options;
    this.#connection = new Connection({ probe: () => this.#loadProgress(), onChange: options.onState });
    this.pipeline = new Pipeline({
      service,
      store,
      queue,
      read,
      isNew: options.isNew,
      streams: () => this.#features?.has('stream_builds') ?? false,
      onState: () => this.#changed(),
      onBuildStart: () => this.log.clear(),
      onLog: (text) => {
        this.log.add(text);
        options.onState();
      },
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
    if (!this.#options.isNew) {
      void this.#loadProgress();
      void this.loadLive();
    }
    this.changed();
  }

  /** Whether the builder runs plugins; not before it has said so. */
  get canTest(): boolean {
    return this.#features?.has('testing') ?? false;
  }

  get testing(): { done: number; all: number } | undefined {
    return this.#testing;
  }

  get isOnline(): boolean {
    return this.#connection.isOnline;
  }

  /** The version that runs when none is asked for, where the builder says so. */
  get live(): string | undefined {
    return this.#live;
  }

  /** Whether the builder can say what was deployed and what is live. */
  get hasVersions(): boolean {
    return this.#knowsVersions;
  }

  /** The text was changed. */
  changed(): void {
    if (this.#options.canWrite()) this.#check.changed();
    this.#options.onState();
  }

  /** A request was answered, or could not be sent. */
  setOnline(isOnline: boolean): void {
    this.#connection.set(isOnline);
  }

  /** The connection or the token is new. */
  resume(): void {
    if (!this.pipeline.action && this.#options.canWrite()) this.#options.notices.hide(NOTICE);
    void this.#loadFeatures();
    if (this.#progressKnown) void this.#loadProgress();
    void this.loadLive();
  }

  close(): void {
    this.#closed.abort();
    this.#connection.close();
    this.pipeline.stop();
    this.#check.close();
  }

  async build(): Promise<void> {
    this.#begin(() => void this.build());
    this.#options.show('build');
    await this.pipeline.runBuild();
  }

  async deploy(message = ''): Promise<void> {
    this.#begin(() => void this.deploy(message));
    if (!(await this.pipeline.runDeploy(message))) this.#showFailure();
  }

  async runTests(entries: readonly TestEntry[]): Promise<void> {
    const { tests, show, showResult, onTest, onState } = this.#options;
    if (!entries.length || this.pipeline.action) return;
    this.#begin(() => void this.runTests(entries));
    show('tests');
    for (const entry of entries) entry.isWaiting = true;
    this.#testing = { done: 0, all: entries.length };
    const isAll = await this.pipeline.runTests(
      entries.map(({ test }) => test.payload ?? ''),
      (index, run) => {
        const entry = entries[index];
        if (!entry) return;
        if (entry.run) entry.before = entry.run;
        entry.run = run;
        entry.isWaiting = false;
        // Whoever asks for one test wants to see what it gives.
        if (entries.length === 1) entry.isOpen = true;
        this.#testing = { done: index + 1, all: entries.length };
        const expected = expectedOf(entry.test);
        const passed = expected === undefined ? {} : { passed: verdictOf(run.answer, expected) === 'passed' };
        onTest?.({ name: tests.titleOf(entry), ...outcome(run), ...passed });
        onState();
      },
    );
    for (const entry of entries) entry.isWaiting = false;
    this.#testing = undefined;
    if (!isAll) this.#showFailure();
    onState();
    const [only, more] = entries;
    if (isAll && only && !more) showResult(only);
  }

  async runPayload(): Promise<void> {
    const { show, onTest, onState } = this.#options;
    const { payload: state } = this;
    if (this.pipeline.action) return;
    this.#begin(() => void this.runPayload());
    show('run');
    state.isRunning = true;
    state.obstacle = undefined;
    const isDone = await this.pipeline.runTests([state.payload], (_, run) => {
      state.before = state.run;
      state.run = run;
      onTest?.(outcome(run));
    });
    state.isRunning = false;
    if (!isDone) this.#showFailure();
    onState();
  }

  /** Learns which version is live, where the builder can say it. */
  async loadLive(): Promise<void> {
    try {
      const { live, latest, pinned } = await this.#options.service.plugin(this.#closed.signal);
      this.#knowsVersions = true;
      this.setLive(live ?? latest ?? undefined, Boolean(pinned));
    } catch {
      // What is not known is not said.
    }
  }

  /** Which version is live, and whether it was chosen. */
  setLive(live: string | undefined, isPinned: boolean): void {
    this.#live = live;
    this.#isPinned = isPinned;
    this.#options.onState();
  }

  /** Whether a version was made live, so that a new one does not become it by itself. */
  get isPinned(): boolean {
    return this.#isPinned;
  }

  /** Learns what the builder supports, until it has said so. */
  async #loadFeatures(): Promise<void> {
    if (this.#features) return;
    try {
      const { features } = await this.#options.client.getFeatures({ signal: this.#closed.signal });
      this.#features = new Set(features);
      this.#options.onState();
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
      this.setOnline(true);
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      this.setOnline(failureOf(error) !== 'connection');
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

  #changed(): void {
    if (this.pipeline.action === undefined && this.#showsBusy) {
      this.#showsBusy = false;
      this.#options.notices.hide(NOTICE);
    }
    this.#options.onState();
  }

  #built(result: BuildResult, { contents }: PluginSource): void {
    const { mark, onBuild } = this.#options;
    const { succeeded, outputLog, diagnostics = [] } = result;
    this.setOnline(true);
    mark('check', [], contents);
    mark('syntax', [], contents);
    mark('build', diagnostics, contents);
    this.log.complete(outputLog);
    onBuild?.({ succeeded, outputLog });
  }

  #deployed({ version, unchanged, live }: Deployed): void {
    const { notices, onDeploy } = this.#options;
    this.setOnline(true);
    this.#showsBusy = false;
    if (live !== undefined) this.setLive(live ?? undefined, this.#isPinned);
    else void this.loadLive();
    const other = typeof live === 'string' && live !== version ? live : undefined;
    const notice = (): Notice => {
      const { deploy } = texts();
      const done = other === undefined ? deploy.done(version) : deploy.doneNotLive(version, other);
      return {
        tone: 'note',
        text: unchanged ? deploy.unchanged(version) : done,
        actions: [notices.dismiss(NOTICE)],
      };
    };
    notices.show(NOTICE, notice, { isPassing: true });
    onDeploy?.({ version, ...(unchanged ? { unchanged } : {}) });
  }

  #obstacle(action: Action, obstacle: Obstacle): void {
    const { notices } = this.#options;
    this.#showsBusy = false;
    if (obstacle === 'connection') this.setOnline(false);
    if (this.payload.isRunning) this.payload.obstacle = obstacle;
    if (!obstacleAdvice(action, obstacle)) return notices.hide(NOTICE);
    notices.show(NOTICE, () => {
      const advice = obstacleAdvice(action, obstacle);
      const again = { label: texts().common.tryAgain, primary: true, run: () => this.#again() };
      const dismiss = notices.dismiss(NOTICE);
      return {
        tone: 'alert',
        text: advice?.text ?? '',
        actions: advice?.again ? [again, dismiss] : [dismiss],
      };
    });
  }

  #busy(action: Action, wait: number): void {
    this.#showsBusy = true;
    const seconds = Math.max(1, Math.round(wait / 1000));
    this.#options.notices.show(NOTICE, () => ({
      tone: 'note',
      text: texts().obstacle.waiting(seconds),
      actions: [{ label: texts().obstacle.stop[action], run: () => this.pipeline.stop() }],
    }));
  }
}

const outcome = ({ answer }: Run) =>
  'error' in answer ? { error: answer.error } : { result: answer.result };
