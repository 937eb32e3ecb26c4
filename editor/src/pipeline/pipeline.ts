import { HttpError, type PluginSource } from 'plugin-editor/client.js';
import { sourceKeyOf } from '../plugin/source.ts';
import type { DraftStore } from '../service/draft-store.ts';
import { failureOf } from '../service/failure.ts';
import type { Action, BuildState, DeployState, Obstacle } from './progress.ts';
import type { SaveQueue } from '../draft/save-queue.ts';
import { whileBusy } from '../service/busy.ts';
import type { PluginService } from '../service/plugin-service.ts';
import type { BuildResult, Deployed, Progress, TestAnswer } from '../service/records.ts';

/** One run of the plugin with a payload. */
export interface Run {
  payload: string;
  /** Identifies the text that was run. */
  sourceKey: string;
  answer: TestAnswer;
  /** How long the run took, in ms; where the builder does not say that, from asking to the answer. */
  took: number;
}

export interface PipelineOptions {
  service: Pick<PluginService, 'build' | 'test' | 'deploy'>;
  store: Pick<DraftStore, 'etag' | 'expect' | 'expected'>;
  queue: Pick<SaveQueue<PluginSource>, 'saveNow' | 'holdDuring' | 'doubt'>;
  read: () => PluginSource;
  /** Whether the builder has no draft yet, so that nothing can have been built or deployed before. */
  isNew: boolean;
  /** Whether the builder can stream. */
  streams: () => boolean;
  /** What is built or deployed, or what is under way, changed. */
  onState: () => void;
  onLog: (text: string) => void;
  onBuildStart: () => void;
  onBuild: (result: BuildResult, source: PluginSource) => void;
  onDeploy: (deployed: Deployed) => void;
  /** An action came to no end. */
  onObstacle: (action: Action, obstacle: Obstacle) => void;
  /** The service is busy; it will be asked again in `wait` ms. */
  onBusy: (action: Action, wait: number) => void;
}

/**
 * The way from a text to a version: saved, built, run, deployed. One action at a time, and each brings about what it
 * needs: who runs or deploys a text that is not built has it built first.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  #build: BuildState;
  #deploy: DeployState;
  /** The text that the service holds a successful build of, if this page knows of one. */
  #builtKey: string | undefined;
  #action: Action | undefined;
  /** A request is out, and not answered. */
  #sent = false;
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
   * What the builder says, perhaps of what another page did. `draft` is what the builder has, where this page is sure
   * of that.
   */
  learn({ built, deployed }: Progress, draft: PluginSource | undefined): void {
    if (this.#action) return;
    const sourceKey = draft && sourceKeyOf(draft);
    if (this.#build.kind === 'none' && sourceKey !== undefined) {
      if (built) this.#builtKey = sourceKey;
      this.#set({ build: built ? { kind: 'built', sourceKey } : { kind: 'none', never: true } });
    }
    if (!deployed) {
      if (this.#deploy.kind === 'none') this.#set({ deploy: { kind: 'none', never: true } });
    } else if (this.#deploy.kind !== 'deployed' || this.#deploy.version !== deployed.version) {
      const { version, current } = deployed;
      this.#set({
        deploy: { kind: 'deployed', version, ...(current && sourceKey !== undefined ? { sourceKey } : {}) },
      });
    }
  }

  /** Stops what is under way. */
  stop(): void {
    this.#abort.abort();
  }

  /** Builds the text; answers whether that succeeded. Does nothing while another action is under way. */
  async runBuild(): Promise<boolean> {
    return (await this.#act('build', (signal) => this.#makeBuild('build', signal))) ?? false;
  }

  /**
   * Runs the plugin with each payload, one after the other, and hands out each run as it ends. Answers whether all
   * were run.
   */
  async runTests(payloads: readonly string[], onRun: (index: number, run: Run) => void): Promise<boolean> {
    const done = await this.#act('test', async (signal) => {
      for (const [index, payload] of payloads.entries()) {
        const run = await this.#runOne(payload, signal);
        if (!run) return false;
        onRun(index, run);
      }
      return true;
    });
    return done ?? false;
  }

  /** Deploys the text as a new version; `message` says what it is for. */
  async runDeploy(message = ''): Promise<boolean> {
    const done = await this.#act('deploy', async (signal) => {
      if (!(await this.#ready('deploy', signal))) return false;
      const sourceKey = sourceKeyOf(this.#options.read());
      this.#set({ deploy: { kind: 'deploying' } });
      const deployed = await this.#sendDeploy(message, signal);
      this.#set({
        deploy: { kind: 'deployed', sourceKey: this.#builtKey ?? sourceKey, version: deployed.version },
      });
      this.#options.onDeploy(deployed);
      return true;
    });
    return done ?? false;
  }

  async #sendDeploy(message: string, signal: AbortSignal): Promise<Deployed> {
    const { service, store, queue } = this.#options;
    try {
      const send = (asked: AbortSignal) => service.deploy({ message, etag: store.etag, signal: asked });
      return await this.#ask('deploy', send, signal);
    } catch (error) {
      // Somebody saved in between: saving finds out what, and has the user choose.
      if (error instanceof HttpError && error.status === 412) queue.doubt();
      throw error;
    }
  }

  async #act<T>(action: Action, step: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    if (this.#action) return undefined;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const before = this.#deploy;
    this.#set({ action });
    try {
      return await step(signal);
    } catch (error) {
      this.#blocked(action, signal.aborted ? 'stopped' : failureOf(error), before);
      return undefined;
    } finally {
      this.#set({ action: undefined });
    }
  }

  #blocked(action: Action, obstacle: Obstacle, before: DeployState): void {
    if (this.#build.kind === 'building') this.#set({ build: { kind: 'unfinished', obstacle } });
    if (this.#deploy.kind === 'deploying') {
      // Stopped while nothing was heard of it, it may be deployed: that is what a lost connection means too.
      const fate = obstacle === 'stopped' && this.#sent ? 'connection' : obstacle;
      const nothing = before.kind === 'deployed' && fate !== 'connection' && fate !== 'service';
      this.#set({ deploy: nothing ? before : { kind: 'unfinished', obstacle: fate } });
    }
    // The service holds another text than this page thought.
    if (obstacle === 'refused') this.#builtKey = undefined;
    this.#options.onObstacle(action, obstacle);
  }

  async #runOne(payload: string, signal: AbortSignal): Promise<Run | undefined> {
    for (let tries = 1; ; tries++) {
      if (!(await this.#ready('test', signal))) return undefined;
      const sourceKey = this.#builtKey ?? '';
      try {
        let started = 0;
        const answer = await this.#ask(
          'test',
          (asked) => {
            started = performance.now();
            return this.#options.service.test(payload, asked);
          },
          signal,
        );
        return { payload, sourceKey, answer, took: answer.took ?? performance.now() - started };
      } catch (error) {
        // The draft was saved anew since it was built: once more, from the beginning.
        if (!(error instanceof HttpError && error.status === 409) || tries > 1) throw error;
        this.#builtKey = undefined;
      }
    }
  }

  /** Sees to it that the text is built. */
  async #ready(action: Action, signal: AbortSignal): Promise<boolean> {
    const { read, queue } = this.#options;
    if (this.#builtKey !== sourceKeyOf(read())) return this.#makeBuild(action, signal);
    // Tests are part of the draft, and not of what is built.
    if (await queue.saveNow()) return !signal.aborted;
    this.#options.onObstacle(action, 'not-saved');
    return false;
  }

  async #makeBuild(action: Action, signal: AbortSignal): Promise<boolean> {
    const { queue, onBuildStart, onBuild, onObstacle } = this.#options;
    this.#set({ build: { kind: 'building' } });
    onBuildStart();
    // A build replaces the draft: what is there must have been seen to be this page's.
    if (!(await queue.saveNow())) {
      this.#set({ build: { kind: 'unfinished', obstacle: 'not-saved' } });
      onObstacle(action, 'not-saved');
      return false;
    }
    signal.throwIfAborted();
    const { source, result } = await queue.holdDuring(() => this.#send(action, signal));
    const { succeeded, diagnostics = [] } = result;
    const sourceKey = sourceKeyOf(source);
    this.#builtKey = succeeded ? sourceKey : undefined;
    const errors = diagnostics.filter(({ severity = 'error' }) => severity === 'error').length;
    this.#set({
      build: succeeded ? { kind: 'built', sourceKey, at: new Date() } : { kind: 'failed', sourceKey, errors },
    });
    onBuild(result, source);
    return succeeded;
  }

  async #send(action: Action, signal: AbortSignal): Promise<{ source: PluginSource; result: BuildResult }> {
    const { service, store, queue, read, streams, onLog } = this.#options;
    const source = read();
    const { lang, contents } = source;
    store.expect(source);
    try {
      const { result, etag } = await this.#ask(
        action,
        (asked) =>
          service.build({ lang, contents, etag: store.etag, stream: streams(), onLog, signal: asked }),
        signal,
      );
      if (etag) store.expected(etag);
      return { source, result };
    } catch (error) {
      // Somebody saved in between: saving finds out what, and has the user choose.
      if (error instanceof HttpError && error.status === 412) queue.doubt();
      throw error;
    }
  }

  #ask<T>(action: Action, step: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const onBusy = (wait: number) => {
      this.#sent = false;
      this.#options.onBusy(action, wait);
    };
    const send = () => {
      this.#sent = true;
      return step(signal);
    };
    return whileBusy(send, { signal, onBusy });
  }

  #set(change: { build?: BuildState; deploy?: DeployState; action?: Action | undefined }): void {
    if (change.build) this.#build = change.build;
    if (change.deploy) this.#deploy = change.deploy;
    if ('action' in change) this.#action = change.action;
    this.#options.onState();
  }
}
