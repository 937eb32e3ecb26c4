import {
  type Build,
  type BuilderClient,
  type Deployment,
  type DraftLocation,
  HttpError,
  type PluginSource,
  type Progress,
  type RecordedCall,
  type RolloutTerms,
  type TestResult,
} from 'plugin-editor/client.js';
import { Emitter } from '../plugin/emitter.ts';
import { sentMocks } from '../plugin/mocks.ts';
import { sourceKeyOf } from '../plugin/source.ts';
import { failureOf, refusalDetail } from '../service/failure.ts';
import type { Action, ActionError, BuildState, DeployState } from './progress.ts';

/** How a run of the editor ended. */
export type RunOutcome = (
  { result: string } | { error: { code?: string | undefined; message: string; path?: string | undefined } }
) & { logs: string[] };

/** What the plugin is run with. */
export interface RunInput {
  payload: string;
  /** The responses that the test names for its calls, or `real` to make the calls. */
  mocks?: unknown;
}

/** One run of the plugin, and how it ended. */
export interface Run extends RunInput {
  /** Identifies the text that ran. */
  sourceKey: string;
  /** Whether its build was made with other types than there are now. */
  isOutdated?: () => boolean;
  outcome: RunOutcome;
  /** Its calls, in the order in which they began. */
  calls?: readonly RecordedCall[] | undefined;
  /** How long the run took, in ms; where the service does not say, the time from the request to the response. */
  took: number;
}

/** The draft that is built and deployed, while the user may edit it. */
export interface PipelineDraft {
  /** The source as it is in the editor. */
  readonly source: PluginSource;
  /** The source as it was saved last: what the user types during a save is not in it. */
  readonly saved: PluginSource;
  /** The entity tag of the draft, as far as this page knows it. */
  readonly etag: string | undefined;
  /** Saves now, also a plugin without a draft. Resolves with whether the service has it. */
  saveNow: () => Promise<boolean>;
  /** Sends no save while `work` runs, unless the page goes away or the host asks. */
  holdDuring: <T>(work: () => Promise<T>) => Promise<T>;
  /** Runs a request that replaces the draft by `source`. It resolves with the draft's new tag. */
  replaceBy: <T extends { etag?: string | undefined }>(
    source: PluginSource,
    request: () => Promise<T>,
  ) => Promise<T>;
  /** The service refused a request, perhaps because the draft is not the one that this page knows. */
  handleRefusal: (error: unknown) => void;
}

/** What is done with a build, which `sourceKey` identifies, until the user stops the action. */
export type UseOfBuild = (sourceKey: string, signal: AbortSignal) => Promise<void>;

/** How a run of the service ended. */
export const outcomeOf = ({ result, error, logs = [] }: TestResult): RunOutcome =>
  error ? { error: { ...error, message: error.message ?? '' }, logs } : { result: result ?? '', logs };

export interface PipelineOptions {
  client: Pick<BuilderClient, 'build' | 'test' | 'deploy'>;
  location: DraftLocation;
  features: { readonly canStream: boolean };
  draft: PipelineDraft;
  /** Whether the service has no draft yet, so that nothing can have been built or deployed. */
  isNew: boolean;
}

export interface PipelineEvents {
  /** The state of the builds and deployments, or of the action that runs, changed. */
  change: void;
  /** A build ended. */
  build: { result: Build; source: PluginSource };
  deploy: Deployment & { rollout?: RolloutTerms };
  /** An action did not complete. */
  error: { action: Action; error: ActionError; detail?: string | undefined };
  /** The service is busy; it will be asked again in `wait` ms. */
  busy: { action: Action; wait: number };
}

/** The most characters that are kept of a log; of a longer one the end is kept. */
const MAX_LOG_LENGTH = 200_000;

/** The time after which an action counts as slow, in ms. */
const SLOW = 500;

/**
 * Saves, builds, runs and deploys a text. There is one action at a time, and an action first does what it depends on: a text
 * that is not built is built before it is run or deployed.
 */
export class Pipeline extends Emitter<PipelineEvents> {
  readonly #options: PipelineOptions;
  #build: BuildState;
  #deploy: DeployState;
  #log = '';
  /** The text that the service holds a successful build of, if this page knows of one. */
  #builtKey: string | undefined;
  /** How many builds ended here, how many of them before the types were known last, and the first whose runs count. */
  #builds = 0;
  #typedBuilds = 0;
  #firstBuild = 0;
  /** When the last build ended, as of `performance.now()`. */
  #buildEndedAt = 0;
  #action: Action | undefined;
  /** Resolves once the last action has ended. */
  #ended = Promise.resolve();
  #isSlow = false;
  /** The time until which the action waits for a busy service, as of `performance.now()`. */
  #busyUntil = 0;
  /** When the last deployment of this page ended, as of `performance.now()`. */
  #deployEndedAt = 0;
  /** The last version that this page knows to be deployed. */
  #knownVersion: string | undefined;
  /** Whether the deployment that runs begins a rollout. */
  #beginsRollout = false;
  /**
   * The last deployment, where its response did not come; `former` is the version that was known before. A version that is the
   * newest says nothing of a rollout, so one that was to begin one is not kept.
   */
  #lostDeployment: { readonly former: string | undefined } | undefined;
  #abort = new AbortController();

  constructor(options: PipelineOptions) {
    super();
    this.#options = options;
    this.#build = this.#deploy = { kind: 'none', hasNeverRun: options.isNew };
  }

  get build(): BuildState {
    return this.#build;
  }

  /** Whether the text needs no build before it is deployed. */
  get isBuilt(): boolean {
    return this.#builtKey === sourceKeyOf(this.#options.draft.source);
  }

  get deployment(): DeployState {
    return this.#deploy;
  }

  /** The log of the last build, as far as it has come. */
  get log(): string {
    return this.#log;
  }

  /** The action that runs. */
  get action(): Action | undefined {
    return this.#action;
  }

  /** Whether the action has run for so long that the user may want to stop it. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  /**
   * Takes over what the service says is built and deployed, perhaps by another page.
   * @param draft what the service has; `undefined` where this page is not sure of it
   * @param askedAt when the service was asked, as of `performance.now()`: a deployment that ended later is newer
   * @returns whether it says that the deployment was made whose response did not come
   */
  applyProgress({ built, deployed }: Progress, draft: PluginSource | undefined, askedAt: number): boolean {
    const sourceKey = draft && sourceKeyOf(draft);
    const isOutdated = !built && sourceKey !== undefined && sourceKey === this.#builtKey;
    if (isOutdated && askedAt >= this.#buildEndedAt) this.#outdateBuilds(this.#builds);
    // Another page may have built what is outdated here.
    const isNewer = built && sourceKey !== this.#builtKey && !this.#action && askedAt >= this.#buildEndedAt;
    if ((this.#build.kind === 'none' || isNewer) && sourceKey !== undefined) {
      if (built) {
        this.#builtKey = sourceKey;
        this.#builds += 1;
      }
      this.#setState({ build: built ? { kind: 'built', sourceKey } : { kind: 'none', hasNeverRun: true } });
    }
    if (this.#action === 'deploy' || askedAt < this.#deployEndedAt) return false;
    const { kind } = this.#deploy;
    if (!deployed) {
      // It may have been deleted with its versions, and created anew.
      if (kind !== 'unfinished') this.#setState({ deploy: { kind: 'none', hasNeverRun: true } });
      return false;
    }
    const { version, current } = deployed;
    const isKnown = version === this.#knownVersion;
    const lost = this.#lostDeployment;
    const isMade = !!lost && (lost.former === undefined ? current : version !== lost.former);
    if (isMade) this.#lostDeployment = undefined;
    const isOfDraft = current && sourceKey !== undefined;
    if (kind !== 'deployed' || !isKnown || isOfDraft)
      this.#setState({ deploy: { kind: 'deployed', version, ...(isOfDraft ? { sourceKey } : {}) } });
    return isMade;
  }

  /** The service has another draft now, or none, so that what it last built is not the text here. */
  forgetBuild(): void {
    this.#builtKey = undefined;
    // The build that runs says itself how it ends.
    if (this.#build.kind !== 'building') this.#setState({ build: { kind: 'none' } });
  }

  /**
   * The service said what types, connections and libraries there are now.
   * @param isOther whether that is something else than it said before
   */
  handleTypes(isOther: boolean): void {
    // Types are asked for after each build, so one since the former response was made with the present types.
    if (isOther) this.#outdateBuilds(this.#typedBuilds);
    this.#typedBuilds = this.#builds;
  }

  /** Resolves once no action runs. */
  async whenIdle(): Promise<void> {
    while (this.#action) await this.#ended;
  }

  /** Stops the action. */
  stop(): void {
    this.#abort.abort();
  }

  /** Builds the text. Resolves with whether that succeeded. Does nothing while another action runs. */
  async runBuild(): Promise<boolean> {
    const isBuilt = await this.#runAction('build', (signal) =>
      this.#withBuild('build', signal, async () => true, true),
    );
    return isBuilt ?? false;
  }

  /**
   * Runs the plugin with each payload, one after the other, and hands out each run as it ends. Returns whether all
   * were run.
   */
  async runTests(inputs: readonly RunInput[], onRun: (index: number, run: Run) => void): Promise<boolean> {
    const done = await this.#runAction('test', async (signal) => {
      for (const [index, input] of inputs.entries()) {
        const run = await this.#runOnce(input, signal);
        if (!run) return false;
        onRun(index, run);
      }
      return true;
    });
    return done ?? false;
  }

  /**
   * Saves and builds the text, unless it is built, and then does `use` with it. Resolves with whether that was done. Does nothing
   * while another action runs.
   */
  async ensureBuilt(use: UseOfBuild): Promise<boolean> {
    const isUsed = await this.#runAction('build', (signal) =>
      this.#withBuild('build', signal, async (sourceKey) => {
        await use(sourceKey, signal);
        return true;
      }),
    );
    return isUsed ?? false;
  }

  /** Deploys the text as a new version; `message` says what is new in it. With `rollout` it gets only a share of the runs. */
  async runDeploy(message = '', rollout?: RolloutTerms): Promise<boolean> {
    this.#lostDeployment = undefined;
    this.#beginsRollout = rollout !== undefined;
    const { client, location, draft } = this.#options;
    const deployed = await this.#runAction('deploy', (signal) =>
      this.#withBuild('deploy', signal, async (sourceKey) => {
        this.#setState({ deploy: { kind: 'deploying' } });
        const answer = await client.deploy(location, {
          ...(message ? { message } : {}),
          ...(rollout ? { rollout } : {}),
          etag: draft.etag,
          onBusy: (wait) => this.#handleBusy('deploy', wait),
          signal,
        });
        this.#setState({ deploy: { kind: 'deployed', sourceKey, version: answer.version } });
        this.emit('deploy', rollout ? { ...answer, rollout } : answer);
        return true;
      }),
    );
    return deployed ?? false;
  }

  async #runAction<T>(action: Action, step: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    if (this.#action) return undefined;
    this.#abort = new AbortController();
    this.#busyUntil = 0;
    const { signal } = this.#abort;
    const before = this.#deploy;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    this.#setState({ action });
    const timer = setTimeout(() => {
      this.#isSlow = true;
      this.emit('change');
    }, SLOW);
    try {
      return await step(signal);
    } catch (error) {
      const reason = signal.aborted ? 'stopped' : actionErrorOf(error);
      this.#handleError(action, reason, before, refusalDetail(error));
      if (reason === 'not-built') this.#outdateBuilds(this.#builds);
      return undefined;
    } finally {
      clearTimeout(timer);
      if (action === 'deploy') this.#deployEndedAt = performance.now();
      this.#isSlow = false;
      this.#setState({ action: undefined });
      resolve();
    }
  }

  #handleError(action: Action, error: ActionError, before: DeployState, detail?: string): void {
    if (this.#build.kind === 'building') this.#setState({ build: { kind: 'unfinished', error } });
    if (this.#deploy.kind === 'deploying') {
      // A request that was stopped before its response came may have deployed, as with a lost connection.
      const wasSent = performance.now() >= this.#busyUntil;
      const effective = error === 'stopped' && wasSent ? 'connection' : error;
      if (!this.#beginsRollout && (effective === 'connection' || effective === 'service'))
        this.#lostDeployment = { former: this.#knownVersion };
      const isUntouched = before.kind === 'deployed' && effective !== 'connection' && effective !== 'service';
      this.#setState({ deploy: isUntouched ? before : { kind: 'unfinished', error: effective } });
    }
    // The service has another build than this page thought.
    if (error === 'refused' || error === 'not-built') this.#builtKey = undefined;
    this.emit('error', { action, error, detail });
  }

  /** The first `count` builds were made with other types than there are now: neither they nor their runs count any more. */
  #outdateBuilds(count: number): void {
    this.#firstBuild = count + 1;
    if (count < this.#builds) return;
    this.#builtKey = undefined;
    const build = this.#build;
    const deploy = this.#deploy;
    this.#setState({
      ...('sourceKey' in build && { build: { ...build, sourceKey: '' } }),
      ...(deploy.kind === 'deployed' && { deploy: { kind: 'deployed', version: deploy.version } }),
    });
  }

  async #runOnce(input: RunInput, signal: AbortSignal): Promise<Run | undefined> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#withBuild('test', signal, (sourceKey) => this.#sendTest(input, sourceKey, signal));
      } catch (error) {
        // The draft was saved after its build, or its types changed: builds and runs it once more.
        if (actionErrorOf(error) !== 'not-built' || tries > 1) throw error;
        this.#outdateBuilds(this.#builds);
      }
    }
  }

  async #sendTest({ payload, mocks }: RunInput, sourceKey: string, signal: AbortSignal): Promise<Run> {
    const { client, location } = this.#options;
    const build = this.#builds;
    let started = performance.now();
    const onBusy = (wait: number) => {
      started = performance.now() + wait;
      this.#handleBusy('test', wait);
    };
    const real = mocks === 'real';
    const calls = real ? undefined : sentMocks(mocks);
    // The client refuses half a surrogate pair, which UTF-8 cannot hold.
    const text = payload.toWellFormed();
    const tested = await client.test(location, text, { onBusy, signal, calls, real });
    const took = tested.took ?? performance.now() - started;
    const isOutdated = () => build < this.#firstBuild;
    return { payload, sourceKey, isOutdated, outcome: outcomeOf(tested), mocks, calls: tested.calls, took };
  }

  /**
   * Saves the text, builds it unless it is built, and then does `use` with its key. No save is sent after the first, because the
   * service refuses to use a draft that is not what was built. Resolves with `undefined` where it is not built.
   */
  async #withBuild<T>(
    action: Action,
    signal: AbortSignal,
    use: (sourceKey: string) => Promise<T>,
    mustBuild = !this.isBuilt,
  ): Promise<T | undefined> {
    const { draft } = this.#options;
    if (mustBuild) this.#setState({ build: { kind: 'building' } });
    // A build replaces the draft, so it must be sure before that the draft is this page's. Tests are saved with it, too.
    if (!(await this.#save(signal))) {
      if (mustBuild) this.#setState({ build: { kind: 'unfinished', error: 'not-saved' } });
      this.emit('error', { action, error: 'not-saved' });
      return undefined;
    }
    try {
      return await draft.holdDuring(async () => {
        const source = draft.saved;
        const sourceKey = sourceKeyOf(source);
        const isReady =
          (!mustBuild && sourceKey === this.#builtKey) || (await this.#sendBuild(action, source, signal));
        return isReady ? use(sourceKey) : undefined;
      });
    } catch (error) {
      draft.handleRefusal(error);
      throw error;
    }
  }

  /** Saves now. Resolves with whether the service has the draft; a save goes on where the action is stopped. */
  async #save(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const stopped = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    );
    return Promise.race([this.#options.draft.saveNow(), stopped]);
  }

  /** Builds what was saved. Resolves with whether that succeeded. */
  async #sendBuild(action: Action, source: PluginSource, signal: AbortSignal): Promise<boolean> {
    const { client, location, features, draft } = this.#options;
    this.#log = '';
    this.#setState({ build: { kind: 'building' } });
    const onLog = (line: string) => {
      this.#addToLog(line);
      this.emit('change');
    };
    const result = await draft.replaceBy(source, () =>
      // The client refuses half a surrogate pair, which UTF-8 cannot hold.
      client.build({ ...location, language: source.lang }, source.contents.toWellFormed(), {
        etag: draft.etag,
        onBusy: (wait) => this.#handleBusy(action, wait),
        ...(features.canStream ? { onLog } : {}),
        signal,
      }),
    );
    const { succeeded, outputLog, diagnostics = [] } = result;
    const sourceKey = sourceKeyOf(source);
    this.#builtKey = succeeded ? sourceKey : undefined;
    this.#builds++;
    this.#buildEndedAt = performance.now();
    // The whole log replaces what came in parts.
    if (outputLog && outputLog.trimEnd() !== this.#log.trimEnd()) {
      this.#log = '';
      this.#addToLog(outputLog);
    }
    this.#setState({
      build: succeeded
        ? { kind: 'built', sourceKey, at: new Date() }
        : { kind: 'failed', sourceKey, problems: diagnostics.length },
    });
    this.emit('build', { result, source });
    return succeeded;
  }

  #addToLog(text: string): void {
    const log = this.#log + (text.endsWith('\n') ? text : `${text}\n`);
    this.#log = log.length > MAX_LOG_LENGTH ? `…${log.slice(-MAX_LOG_LENGTH)}` : log;
  }

  #handleBusy(action: Action, wait: number): void {
    this.#busyUntil = performance.now() + wait;
    this.emit('busy', { action, wait });
  }

  #setState(change: { build?: BuildState; deploy?: DeployState; action?: Action | undefined }): void {
    if (change.build) this.#build = change.build;
    if (change.deploy) this.#deploy = change.deploy;
    if (change.deploy?.kind === 'deployed') this.#knownVersion = change.deploy.version;
    if ('action' in change) this.#action = change.action;
    this.emit('change');
  }
}

function actionErrorOf(error: unknown): ActionError {
  if (!(error instanceof HttpError)) return failureOf(error);
  const { status, code } = error;
  if (status === 409) return code === 'rollout-conflict' ? code : 'not-built';
  return code === 'draft-not-found' ? 'deleted' : failureOf(error);
}
