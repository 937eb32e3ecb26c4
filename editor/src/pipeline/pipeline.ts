import { HttpError, type PluginSource } from 'plugin-editor/client.js';
import { sourceKeyOf } from '../plugin/source.ts';
import type { DraftStore } from '../service/draft-store.ts';
import { failureOf } from '../service/failure.ts';
import type { Action, BuildState, DeployState, Obstacle } from './progress.ts';
import type { SaveQueue } from '../draft/save-queue.ts';
import { whileBusy } from '../service/busy.ts';
import type { PluginService } from '../service/plugin-service.ts';
import type { BuildResult, Deployed, Progress, RunOutcome } from '../service/records.ts';

/** One run of the plugin with a payload, and how it ended. */
export interface Run {
  payload: string;
  /** Identifies the text that ran. */
  sourceKey: string;
  outcome: RunOutcome;
  /** How long the run took, in ms; where the service does not say, the time from the request to the response. */
  took: number;
}

export interface PipelineOptions {
  service: Pick<PluginService, 'build' | 'test' | 'deploy'>;
  store: Pick<DraftStore, 'etag' | 'addUnconfirmed' | 'confirm'>;
  queue: Pick<SaveQueue<PluginSource>, 'saveNow' | 'holdDuring' | 'invalidateBase'>;
  read: () => PluginSource;
  /** Whether the service has no draft yet, so that nothing can have been built or deployed. */
  isNew: boolean;
  /** Whether the service can stream a build's log. */
  canStream: () => boolean;
  /** What is built or deployed, or what is under way, changed. */
  onChange: () => void;
  onLog: (text: string) => void;
  onBuildStart: () => void;
  onBuild: (result: BuildResult, source: PluginSource) => void;
  onDeploy: (deployed: Deployed) => void;
  /** An action did not complete. */
  onObstacle: (action: Action, obstacle: Obstacle) => void;
  /** The service is busy; it will be asked again in `wait` ms. */
  onBusy: (action: Action, wait: number) => void;
}

/**
 * Saves, builds, runs and deploys a text. There is one action at a time, and an action first does what it depends on: a text
 * that is not built is built before it is run or deployed.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  #build: BuildState;
  #deploy: DeployState;
  /** The text that the service holds a successful build of, if this page knows of one. */
  #builtKey: string | undefined;
  #action: Action | undefined;
  /** A request was sent and is not answered yet. */
  #isAwaitingResponse = false;
  #abort = new AbortController();

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#build = this.#deploy = { kind: 'none', never: options.isNew };
  }

  get build(): BuildState {
    return this.#build;
  }

  get deployment(): DeployState {
    return this.#deploy;
  }

  /** What is under way. */
  get action(): Action | undefined {
    return this.#action;
  }

  /**
   * Takes over what the service says is built and deployed, perhaps by another page.
   * @param draft what the service has; `undefined` where this page is not sure of it
   */
  applyProgress({ built, deployed }: Progress, draft: PluginSource | undefined): void {
    if (this.#action) return;
    const sourceKey = draft && sourceKeyOf(draft);
    if (this.#build.kind === 'none' && sourceKey !== undefined) {
      if (built) this.#builtKey = sourceKey;
      this.#setState({ build: built ? { kind: 'built', sourceKey } : { kind: 'none', never: true } });
    }
    if (!deployed) {
      if (this.#deploy.kind === 'none') this.#setState({ deploy: { kind: 'none', never: true } });
    } else if (this.#deploy.kind !== 'deployed' || this.#deploy.version !== deployed.version) {
      const { version, current } = deployed;
      this.#setState({
        deploy: { kind: 'deployed', version, ...(current && sourceKey !== undefined ? { sourceKey } : {}) },
      });
    }
  }

  /** Stops what is under way. */
  stop(): void {
    this.#abort.abort();
  }

  /** Builds the text. Resolves with whether that succeeded. Does nothing while another action is under way. */
  async runBuild(): Promise<boolean> {
    return (await this.#runAction('build', (signal) => this.#buildDraft('build', signal))) ?? false;
  }

  /**
   * Runs the plugin with each payload, one after the other, and hands out each run as it ends. Returns whether all
   * were run.
   */
  async runTests(payloads: readonly string[], onRun: (index: number, run: Run) => void): Promise<boolean> {
    const done = await this.#runAction('test', async (signal) => {
      for (const [index, payload] of payloads.entries()) {
        const run = await this.#runPayload(payload, signal);
        if (!run) return false;
        onRun(index, run);
      }
      return true;
    });
    return done ?? false;
  }

  /** Deploys the text as a new version; `message` says what it is for. */
  async runDeploy(message = ''): Promise<boolean> {
    const done = await this.#runAction('deploy', async (signal) => {
      if (!(await this.#ensureBuilt('deploy', signal))) return false;
      const sourceKey = sourceKeyOf(this.#options.read());
      this.#setState({ deploy: { kind: 'deploying' } });
      const deployed = await this.#sendDeploy(message, signal);
      this.#setState({
        deploy: { kind: 'deployed', sourceKey: this.#builtKey ?? sourceKey, version: deployed.version },
      });
      this.#options.onDeploy(deployed);
      return true;
    });
    return done ?? false;
  }

  async #sendDeploy(message: string, signal: AbortSignal): Promise<Deployed> {
    const { service, store } = this.#options;
    try {
      const send = (sent: AbortSignal) => service.deploy({ message, etag: store.etag, signal: sent });
      return await this.#sendWhileBusy('deploy', send, signal);
    } catch (error) {
      this.#handleStale(error);
      throw error;
    }
  }

  /** Another page has saved meanwhile: saving finds out what, and lets the user choose. */
  #handleStale(error: unknown): void {
    if (error instanceof HttpError && error.status === 412) this.#options.queue.invalidateBase();
  }

  async #runAction<T>(action: Action, step: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    if (this.#action) return undefined;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const before = this.#deploy;
    this.#setState({ action });
    try {
      return await step(signal);
    } catch (error) {
      this.#handleObstacle(action, signal.aborted ? 'stopped' : failureOf(error), before);
      return undefined;
    } finally {
      this.#setState({ action: undefined });
    }
  }

  #handleObstacle(action: Action, obstacle: Obstacle, before: DeployState): void {
    if (this.#build.kind === 'building') this.#setState({ build: { kind: 'unfinished', obstacle } });
    if (this.#deploy.kind === 'deploying') {
      // A request that was stopped before its response came may have deployed, as with a lost connection.
      const effective = obstacle === 'stopped' && this.#isAwaitingResponse ? 'connection' : obstacle;
      const isUntouched = before.kind === 'deployed' && effective !== 'connection' && effective !== 'service';
      this.#setState({ deploy: isUntouched ? before : { kind: 'unfinished', obstacle: effective } });
    }
    // The service has another build than this page thought.
    if (obstacle === 'refused') this.#builtKey = undefined;
    this.#options.onObstacle(action, obstacle);
  }

  async #runPayload(payload: string, signal: AbortSignal): Promise<Run | undefined> {
    for (let tries = 1; ; tries++) {
      if (!(await this.#ensureBuilt('test', signal))) return undefined;
      const sourceKey = this.#builtKey ?? '';
      try {
        let started = 0;
        const outcome = await this.#sendWhileBusy(
          'test',
          (sent) => {
            started = performance.now();
            return this.#options.service.test(payload, sent);
          },
          signal,
        );
        return { payload, sourceKey, outcome, took: outcome.took ?? performance.now() - started };
      } catch (error) {
        // The draft was saved after its build: builds and runs it once more.
        if (!(error instanceof HttpError && error.status === 409) || tries > 1) throw error;
        this.#builtKey = undefined;
      }
    }
  }

  /** Builds the text if it is not built, and saves the tests. Resolves with whether the action can go on. */
  async #ensureBuilt(action: Action, signal: AbortSignal): Promise<boolean> {
    const { read, queue } = this.#options;
    if (this.#builtKey !== sourceKeyOf(read())) return this.#buildDraft(action, signal);
    // Tests are saved with the draft, but a change of them needs no build.
    if (await queue.saveNow()) return !signal.aborted;
    this.#options.onObstacle(action, 'not-saved');
    return false;
  }

  async #buildDraft(action: Action, signal: AbortSignal): Promise<boolean> {
    const { queue, onBuildStart, onBuild, onObstacle } = this.#options;
    this.#setState({ build: { kind: 'building' } });
    onBuildStart();
    // A build replaces the draft, so it must be sure before that the draft is this page's.
    if (!(await queue.saveNow())) {
      this.#setState({ build: { kind: 'unfinished', obstacle: 'not-saved' } });
      onObstacle(action, 'not-saved');
      return false;
    }
    signal.throwIfAborted();
    const { source, result } = await queue.holdDuring(() => this.#sendBuild(action, signal));
    const { succeeded, diagnostics = [] } = result;
    const sourceKey = sourceKeyOf(source);
    this.#builtKey = succeeded ? sourceKey : undefined;
    const errors = diagnostics.filter(({ severity = 'error' }) => severity === 'error').length;
    this.#setState({
      build: succeeded ? { kind: 'built', sourceKey, at: new Date() } : { kind: 'failed', sourceKey, errors },
    });
    onBuild(result, source);
    return succeeded;
  }

  async #sendBuild(
    action: Action,
    signal: AbortSignal,
  ): Promise<{ source: PluginSource; result: BuildResult }> {
    const { service, store, read, canStream, onLog } = this.#options;
    const source = read();
    const { lang, contents } = source;
    store.addUnconfirmed(source);
    try {
      const { result, etag } = await this.#sendWhileBusy(
        action,
        (sent) =>
          service.build({ lang, contents, etag: store.etag, stream: canStream(), onLog, signal: sent }),
        signal,
      );
      if (etag) store.confirm(etag);
      return { source, result };
    } catch (error) {
      this.#handleStale(error);
      throw error;
    }
  }

  #sendWhileBusy<T>(
    action: Action,
    step: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const onBusy = (wait: number) => {
      this.#isAwaitingResponse = false;
      this.#options.onBusy(action, wait);
    };
    const send = () => {
      this.#isAwaitingResponse = true;
      return step(signal);
    };
    return whileBusy(send, { signal, onBusy });
  }

  #setState(change: { build?: BuildState; deploy?: DeployState; action?: Action | undefined }): void {
    if (change.build) this.#build = change.build;
    if (change.deploy) this.#deploy = change.deploy;
    if ('action' in change) this.#action = change.action;
    this.#options.onChange();
  }
}
