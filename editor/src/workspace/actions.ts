import type { RolloutTerms } from 'plugin-editor/client.js';
import { LiveCheck } from '../code/live-check.ts';
import { formatPercent } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { Pipeline, type PipelineEvents, type Run, type UseOfBuild } from '../pipeline/pipeline.ts';
import { type Action, type ActionError, actionErrorAdvice } from '../pipeline/progress.ts';
import { Emitter } from '../plugin/emitter.ts';
import type { PayloadRun } from '../tests/run-panel.ts';
import type { TestEntry } from '../tests/test-list.ts';
import { expectedOf, verdictOf } from '../tests/verdict.ts';
import type { Notice, Notices } from '../ui/notices.ts';
import type { Access } from './access.ts';
import type { Dock } from './dock.ts';
import type { DraftSaving } from './draft-saving.ts';
import type { PluginDocument } from './plugin-document.ts';
import type { PluginSession } from './plugin-session.ts';
import type { ServiceState } from './service-state.ts';

/** The parts of an open plugin that actions work with. */
export interface ActionsParts {
  session: PluginSession;
  access: Access;
  document: PluginDocument;
  saving: DraftSaving;
  serviceState: ServiceState;
  dock: Dock;
}

/** What the user chooses in the sheet that deploys. */
export interface DeployChoice {
  message: string;
  rollout?: RolloutTerms | undefined;
}

/**
 * Checks, builds, runs and deploys the plugin that is open, and reports the results. Emits `built` when the service has built or
 * deployed it.
 */
export class Actions extends Emitter<{ built: void }> {
  readonly pipeline: Pipeline;
  /** The panel that runs a payload. */
  readonly payload: PayloadRun = { payload: '', makesCalls: false, isRunning: false };
  readonly #parts: ActionsParts;
  readonly #check: LiveCheck;
  readonly #notice: ActionNotice;
  #testProgress: { done: number; all: number } | undefined;
  readonly #resolved = new Set<ActionError>();

  constructor(parts: ActionsParts) {
    super();
    this.#parts = parts;
    const { session, document, saving, serviceState } = parts;
    const { client, location, notices, screen, signal } = session;
    this.pipeline = new Pipeline({
      client,
      location,
      features: serviceState,
      draft: saving,
      isNew: !saving.exists,
    });
    this.#notice = new ActionNotice(notices, this);
    this.pipeline.on('change', () => {
      if (this.pipeline.action === undefined) this.#notice.end();
      screen.draw();
    });
    this.pipeline.on('build', (build) => this.#handleBuild(build));
    this.pipeline.on('deploy', (deployed) => this.#handleDeploy(deployed));
    this.pipeline.on('error', (error) => this.#handleError(error));
    this.pipeline.on('busy', ({ action, wait }) => this.#notice.showBusy(action, wait));
    serviceState.on('online', () => this.#check.resume());
    serviceState.on('progress', ({ progress, draft, askedAt }) => {
      if (this.pipeline.applyProgress(progress, draft, askedAt)) this.#notice.handleDeployed();
    });
    const { editor } = document;
    this.#check = new LiveCheck({
      read: () => document.source,
      check: async ({ lang, contents }, stopped) => {
        const source = { ...location, language: lang };
        return (await client.checkSource(source, contents.toWellFormed(), { signal: stopped })).diagnostics;
      },
      onFound: (found) => {
        const { contents } = editor;
        // The same compiler checks and builds, so a check of the present text replaces what was found before.
        editor.mark('build', [], contents);
        editor.mark('syntax', [], contents);
        editor.mark('check', found, contents);
      },
      onUnable: () => void editor.markSyntax(),
    });
    signal.addEventListener('abort', () => {
      this.pipeline.stop();
      this.#check.close();
    });
  }

  /** Whether the plugin may be run here, and the service runs plugins. */
  get canTest(): boolean {
    const { serviceState, access } = this.#parts;
    return serviceState.canTest && access.canWrite;
  }

  /** Whether the plugin may be deployed here, with what that needs before it. */
  get canDeploy(): boolean {
    const { access, saving } = this.#parts;
    return access.canDeploy && (access.canWrite || (this.pipeline.isBuilt && !saving.isUnsaved));
  }

  /** While tests run: how many of them have run, and how many are to. */
  get testProgress(): { done: number; all: number } | undefined {
    return this.#testProgress;
  }

  /** The text is shown for the first time. It is checked once the service has said whether that is permitted. */
  async start(): Promise<void> {
    const { details, signal } = this.#parts.session;
    await details;
    if (!signal.aborted) this.handleEdit();
  }

  /** The text was changed or shown for the first time, or what it is checked with changed. */
  handleEdit(): void {
    const { access, session } = this.#parts;
    if (access.canWrite) this.#check.schedule();
    session.screen.draw();
  }

  /** The service said what types there are; `isOther`: others than before. */
  handleTypes(isOther: boolean): void {
    this.pipeline.handleTypes(isOther);
    // The text that was opened is checked already.
    if (isOther) this.handleEdit();
  }

  /** The errors whose cause ended after they last occurred. */
  get resolved(): ReadonlySet<ActionError> {
    return this.#resolved;
  }

  /** The cause of these errors ended. */
  handleResolved(resolved: readonly ActionError[]): void {
    for (const error of resolved) this.#resolved.add(error);
    this.#notice.handleResolved(resolved);
    // The same may have kept the text from being checked.
    this.#check.resume();
  }

  async build(): Promise<void> {
    this.#begin(() => void this.build());
    this.#parts.dock.show('build');
    await this.pipeline.runBuild();
  }

  /** Saves and builds the text, unless it is built, and then does `use`. Resolves with whether it did. `retry` does it once more. */
  async ensureBuilt(retry: () => void, use: UseOfBuild): Promise<boolean> {
    this.#begin(retry);
    return this.pipeline.ensureBuilt(use);
  }

  /**
   * @param message what is new in the version, and the rollout that it begins
   * @param retry asks the user again, where the deployment does not complete: the text or its tests may have changed meanwhile
   */
  async deploy({ message, rollout }: DeployChoice, retry: () => void): Promise<void> {
    // A build that the sheet began, to try the text on real runs, ends with it.
    await this.pipeline.whenIdle();
    this.#begin(retry);
    if (!(await this.pipeline.runDeploy(message, rollout))) this.#showFailedBuild();
  }

  /**
   * Runs tests one after the other. Does nothing while another action runs.
   * @param isShown whether the panel of tests comes into view
   */
  async runTests(entries: readonly TestEntry[], { isShown = true } = {}): Promise<void> {
    const { dock, session } = this.#parts;
    const { pipeline } = this;
    if (!entries.length || pipeline.action) return;
    this.#begin(() => void this.runTests(entries));
    if (isShown) dock.show('tests');
    for (const entry of entries) entry.isWaiting = true;
    this.#testProgress = { done: 0, all: entries.length };
    const inputs = entries.map(({ test }) => ({ payload: test.payload ?? '', mocks: test['calls'] }));
    const handleRun = (index: number, run: Run) => {
      const entry = entries[index];
      if (!entry) return;
      this.#testProgress = { done: index + 1, all: entries.length };
      // A user who runs a single test wants to see its result.
      if (isShown && entries.length === 1) entry.isOpen = true;
      this.#handleTest(entry, run);
    };
    const isComplete = await pipeline.runTests(inputs, handleRun);
    for (const entry of entries) entry.isWaiting = false;
    this.#testProgress = undefined;
    if (!isComplete) this.#showFailedBuild();
    session.screen.draw();
    const [first] = entries;
    if (isComplete && isShown && first && entries.length === 1) dock.showResult(first);
  }

  /** Runs the payload that is typed in. Does nothing while another action runs. */
  async runPayload(): Promise<void> {
    const { dock, session } = this.#parts;
    const { pipeline, payload: state } = this;
    if (pipeline.action) return;
    this.#begin(() => void this.runPayload());
    dock.show('run');
    state.isRunning = true;
    state.error = undefined;
    const makesCalls = state.makesCalls && this.#parts.access.canDeploy;
    const isComplete = await pipeline.runTests(
      [{ payload: state.payload, ...(makesCalls && { mocks: 'real' }) }],
      (_, run) => {
        state.before = state.run;
        state.run = run;
        session.host.test?.(reportedOutcome(run));
      },
    );
    state.isRunning = false;
    if (!isComplete) this.#showFailedBuild();
    else dock.showPayloadResult();
    session.screen.draw();
  }

  #begin(retry: () => void): void {
    if (this.pipeline.action) return;
    this.#notice.begin(retry);
    void this.#parts.serviceState.loadFeatures();
  }

  /** Where an action ended because the build failed, the panel of builds says why. */
  #showFailedBuild(): void {
    if (this.pipeline.build.kind === 'failed') this.#parts.dock.show('build');
  }

  #handleTest(entry: TestEntry, run: Run): void {
    const { document, session } = this.#parts;
    if (entry.run) entry.before = entry.run;
    entry.run = run;
    entry.isWaiting = false;
    const { test } = entry;
    const passed =
      expectedOf(test) === undefined ? {} : { passed: verdictOf(run.outcome, test) === 'passed' };
    session.host.test?.({ name: document.tests.titleOf(entry), ...reportedOutcome(run), ...passed });
    session.screen.draw();
  }

  #handleBuild({ result, source: { contents } }: PipelineEvents['build']): void {
    const { session, document, serviceState } = this.#parts;
    const { succeeded, outputLog, diagnostics = [] } = result;
    const { editor } = document;
    serviceState.setOnline(true);
    editor.mark('check', [], contents);
    editor.mark('syntax', [], contents);
    editor.mark('build', diagnostics, contents);
    session.host.build?.({ succeeded, outputLog });
    this.emit('built');
  }

  #handleDeploy(deployed: PipelineEvents['deploy']): void {
    const { session, serviceState } = this.#parts;
    const { version, unchanged, live } = deployed;
    serviceState.setOnline(true);
    if (live === undefined) void serviceState.loadLive();
    else serviceState.setLive(live ?? undefined, serviceState.isPinned);
    this.#notice.showDeployed(deployed);
    session.host.deploy?.({ version, ...(unchanged ? { unchanged } : {}) });
    this.emit('built');
  }

  #handleError({ action, error, detail }: PipelineEvents['error']): void {
    if (error === 'connection') this.#parts.serviceState.setOnline(false);
    this.#resolved.delete(error);
    if (this.payload.isRunning) this.payload.error = error;
    this.#notice.showError(action, error, detail);
  }
}

/** How a run ended, for the page around the editor. */
const reportedOutcome = ({ outcome }: Run): { result: string } | { error: unknown } =>
  'error' in outcome ? { error: outcome.error } : { result: outcome.result };

const NOTICE = 'action';

/** The notice about the action that runs or ran last: a build, tests or a deployment. There is at most one. */
class ActionNotice {
  readonly #notices: Notices;
  readonly #actions: Actions;
  #retry: () => void = () => {};
  /** What the notice is about: that the action waits for a busy service, why it did not complete, or something else. */
  #reason: 'waiting' | ActionError | undefined;
  /** The action that did not complete, where the notice says so. */
  #action: Action | undefined;

  constructor(notices: Notices, actions: Actions) {
    this.#notices = notices;
    this.#actions = actions;
  }

  /** An action begins; `retry` begins it once more. */
  begin(retry: () => void): void {
    this.#retry = retry;
    this.#hide();
  }

  /** The action ended. */
  end(): void {
    if (this.#reason === 'waiting') this.#hide();
  }

  handleResolved(resolved: readonly ActionError[]): void {
    if (resolved.some((error) => error === this.#reason)) this.#hide();
  }

  /** The deployment that did not complete was made all the same. */
  handleDeployed(): void {
    if (this.#action === 'deploy') this.#hide();
  }

  /** The service is busy and will be asked again in `wait` ms. */
  showBusy(action: Action, wait: number): void {
    this.#reason = 'waiting';
    const seconds = Math.max(1, Math.round(wait / 1000));
    this.#notices.show(NOTICE, () => ({
      tone: 'note',
      text: texts().actionError.waiting(seconds),
      actions: [{ label: texts().actionError.stop[action], run: () => this.#actions.pipeline.stop() }],
    }));
  }

  showError(action: Action, error: ActionError, detail?: string): void {
    if (!actionErrorAdvice(action, error)) return this.#hide();
    this.#reason = error;
    this.#action = action;
    this.#notices.show(NOTICE, () => {
      const advice = actionErrorAdvice(action, error, detail);
      const tryAgain = { label: texts().common.tryAgain, primary: true, run: () => this.#retry() };
      const dismiss = this.#notices.dismiss(NOTICE);
      // Who may only deploy cannot build what has to be built first.
      const canRetry = action !== 'deploy' || this.#actions.canDeploy;
      return {
        tone: 'alert',
        text: advice?.text ?? '',
        actions: advice?.again && canRetry ? [tryAgain, dismiss] : [dismiss],
      };
    });
  }

  showDeployed({ version, unchanged, live, rollout }: PipelineEvents['deploy']): void {
    this.#reason = undefined;
    const otherLive = typeof live === 'string' && live !== version ? live : undefined;
    const notice = (): Notice => {
      const { deploy } = texts();
      const done =
        otherLive === undefined
          ? deploy.done(version)
          : rollout
            ? deploy.doneRolledOut(version, formatPercent(rollout.percent / 100), otherLive)
            : deploy.doneNotLive(version, otherLive);
      return {
        tone: 'note',
        text: unchanged ? deploy.unchanged(version) : done,
        actions: [this.#notices.dismiss(NOTICE)],
      };
    };
    this.#notices.show(NOTICE, notice, { isTransient: true });
  }

  #hide(): void {
    this.#reason = this.#action = undefined;
    this.#notices.hide(NOTICE);
  }
}
