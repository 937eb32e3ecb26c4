import { type TemplateResult, html, nothing, render } from 'lit/html.js';
import type { PluginSource } from 'plugin-editor/client.js';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import '../pipeline/text-difference.ts';
import { type ActionError, actionErrorReason } from '../pipeline/progress.ts';
import { countTests, isDeployed } from '../pipeline/work.ts';
import { sameWork } from '../plugin/source.ts';
import { replayView } from '../runs/lazy-replay-view.ts';
import { failureOf } from '../service/failure.ts';
import { Latest } from '../service/latest.ts';
import type { TestEntry } from '../tests/test-list.ts';
import { isComposing } from '../ui/commands.ts';
import { openDialog } from '../ui/dialog.ts';
import { icon } from '../ui/icon.ts';
import { startButton } from '../ui/start-button.ts';
import { rolloutFields, proposedTerms, startRollout, toTerms } from '../versions/rollout-terms.ts';
import { rolloutView } from '../versions/rollout-view.ts';
import type { DeployChoice } from './actions.ts';
import type { Workspace } from './workspace.ts';

/** The longest message of a version, in characters. */
const MAX_MESSAGE_LENGTH = 500;
/** How many names of failed tests are listed at most. */
const MAX_NAMES = 8;

/**
 * What is live, to compare with. `unknown`: the service did not say it. `none`: nothing was deployed yet. `isOutdated`: the same
 * source would be another version, because its namespace has other types or libraries, or has none any more.
 */
type Comparison =
  'loading' | 'failed' | 'unknown' | 'none' | { version: string; source: PluginSource; isOutdated: boolean };

/** `broken`: the text does not build. `untested`: tests did not run. `settled`: nothing is left to ask about. */
type SheetState = 'testing' | 'broken' | 'failed' | 'untested' | 'settled';

/**
 * Shows what a deployment would change, how the tests end, and whom it reaches, before the user deploys. Tests that did not run
 * with the present text run as soon as it opens.
 */
export class DeploySheet {
  readonly #workspace: Workspace;
  /** Kept when the sheet is closed, until a version has it. */
  #message = '';
  /** Whether a share of the runs is to get the version, instead of everyone. */
  #isShare = false;
  #terms = proposedTerms();
  #comparison: Comparison = 'loading';
  readonly #comparisons = new Latest();
  /** The version that was live when the comparison began. */
  #compared: string | undefined;
  /** Whether the tests that this sheet asked for have not ended yet. */
  #isTesting = false;
  /** Counts how often the sheet asked for tests, so that a wait that was stopped runs none. */
  #testRuns = 0;
  /** Why the last action did not complete. */
  #error: ActionError | undefined;
  /** Whether the user confirmed before the tests had ended. */
  #isConfirmed = false;
  #confirm = () => {};
  #cancel = () => {};

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
    const { pipeline } = workspace.actions;
    workspace.serviceState.on('online', () => {
      if (this.#comparison === 'failed' || this.#comparison === 'unknown') void this.#compare();
    });
    pipeline.on('error', ({ error }) => (this.#error = error));
    pipeline.on('deploy', () => {
      this.#message = '';
      this.#isShare = false;
    });
  }

  /** Opens the sheet. Resolves with what the user confirms, and with `undefined` where the user closes it. */
  async show(): Promise<DeployChoice | undefined> {
    const { session, rollouts } = this.#workspace;
    const { screen } = session;
    this.#isConfirmed = false;
    const isSure = await openDialog<true>({
      className: 'deploy',
      title: texts().deploy.title,
      content: (close) => {
        this.#confirm = () => close(true);
        this.#cancel = () => close();
        return html`<div class="deploy-sheet"></div>`;
      },
      onOpen: (dialog) => {
        const place = dialog.querySelector<HTMLElement>('.deploy-sheet');
        const draw = () => {
          if (this.#comparison !== 'loading' && this.#compared !== this.#workspace.serviceState.live)
            void this.#compare();
          dialog.dataset['state'] = this.#state;
          if (place) render(this.#view(), place);
        };
        const end = screen.subscribe(draw);
        const endWatch = rollouts.watch();
        void this.#compare();
        void this.#runTests();
        draw();
        // Where the sheet is too long for the page, it begins with whom the version reaches.
        queueMicrotask(() =>
          dialog.querySelector<HTMLElement>('#deploy-message')?.focus({ preventScroll: true }),
        );
        return () => {
          end();
          endWatch();
        };
      },
    });
    if (!isSure) return undefined;
    return {
      message: this.#message.trim(),
      ...(this.#isShare && this.#canRollOut && { rollout: toTerms(this.#terms) }),
    };
  }

  /** Compares with what is live. */
  async #compare(): Promise<void> {
    const { session, serviceState, saving } = this.#workspace;
    const accept = this.#comparisons.begin();
    this.#comparison = 'loading';
    // A plugin without a draft has no versions.
    if (saving.exists && !serviceState.hasVersions) await serviceState.loadLive();
    if (!accept()) return;
    this.#compared = serviceState.live;
    const comparison = await this.#compareWith(serviceState.live);
    if (!accept()) return;
    this.#comparison = comparison;
    session.screen.draw();
  }

  async #compareWith(live: string | undefined): Promise<Comparison> {
    const { session, serviceState, saving, work } = this.#workspace;
    const { client, location, signal } = session;
    if (live === undefined) {
      const { deployment } = work;
      const isNew = !saving.exists || (deployment.kind === 'none' && deployment.hasNeverRun);
      return serviceState.hasVersions || isNew ? 'none' : 'unknown';
    }
    try {
      const [plugin, source] = await Promise.all([
        client.getPlugin(location, { signal }).catch(() => undefined),
        client.getVersion(location, live, { signal }),
      ]);
      // Unless the service says so of this version, equal sources do not mean that nothing changes.
      const isOutdated = plugin?.live !== live || plugin.outdated;
      return { version: live, source, isOutdated };
    } catch (error) {
      // The service is asked until it can be reached again.
      if (failureOf(error) === 'connection') serviceState.setOnline(false);
      return 'failed';
    }
  }

  /** Runs the tests that have not run with the present text. Deploys after them where the user has confirmed meanwhile. */
  async #runTests(): Promise<void> {
    const { session, serviceState, actions, document } = this.#workspace;
    const number = ++this.#testRuns;
    this.#error = undefined;
    this.#isTesting = this.#untested.length > 0;
    if (!this.#isTesting) return;
    await serviceState.loadFeatures();
    if (number !== this.#testRuns) return;
    const entries = document.tests.entries.filter((entry) => this.#untested.includes(entry));
    if (actions.canTest) await actions.runTests(entries, { isShown: false });
    this.#isTesting = false;
    if (this.#isConfirmed && this.#state === 'settled') this.#confirm();
    this.#isConfirmed = false;
    session.screen.draw();
  }

  #stopTests(): void {
    const { actions, session } = this.#workspace;
    if (actions.pipeline.action) return actions.pipeline.stop();
    // The service has not said yet whether it runs plugins.
    this.#testRuns++;
    this.#isTesting = this.#isConfirmed = false;
    this.#error = 'stopped';
    session.screen.draw();
  }

  /** The tests that have not run with the present text and payload. */
  get #untested(): readonly TestEntry[] {
    const { tests, testStatuses } = this.#workspace.document;
    return tests.entries.filter((_, index) => {
      const status = testStatuses[index];
      return !status?.isCurrent || status.verdict === 'none';
    });
  }

  get #failed(): readonly TestEntry[] {
    const { tests, testStatuses } = this.#workspace.document;
    return tests.entries.filter((_, index) => {
      const status = testStatuses[index];
      return status?.isCurrent && status.verdict === 'failed';
    });
  }

  get #state(): SheetState {
    const { work, serviceState, actions } = this.#workspace;
    const { build, sourceKey } = work;
    if (this.#isTesting) return 'testing';
    if (build.kind === 'failed' && build.sourceKey === sourceKey) return 'broken';
    if (this.#failed.length) return 'failed';
    // A service that runs no plugins can test none.
    const canTest = actions.canTest || !serviceState.hasFeatures;
    return this.#untested.length && canTest ? 'untested' : 'settled';
  }

  #view(): TemplateResult {
    const { deploy, common } = texts();
    const state = this.#state;
    const isAsking = state === 'failed' || state === 'untested';
    const isOff = state === 'broken' || !this.#workspace.actions.canDeploy;
    const submit = (event: SubmitEvent) => {
      event.preventDefault();
      if (isOff) return;
      if (state !== 'testing') return this.#confirm();
      this.#isConfirmed = true;
      this.#workspace.session.screen.draw();
    };
    /** Enter deploys. Where the sheet asks, it goes to the question first, so that no key that was meant for "Deploy" answers it. */
    const handleKey = (event: KeyboardEvent) => {
      const { key, shiftKey, target } = event;
      const isField = target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;
      if (key !== 'Enter' || shiftKey || isComposing(event) || !isField) return;
      event.preventDefault();
      const { form } = target;
      if (isAsking) form?.querySelector<HTMLElement>('[type=submit]')?.focus();
      else if (!event.repeat) form?.requestSubmit();
    };
    return html`<form class="deploy-form" method="dialog" @submit=${submit}>
      <div class="deploy-parts">
        <section @keydown=${handleKey}>
          <h3>${deploy.target}</h3>
          ${this.#target()}
        </section>
        <section>
          <h3>${deploy.changes}</h3>
          ${this.#changes()}
        </section>
        <section class="deploy-tests" data-state=${state}>
          <h3>${texts().tests.title}</h3>
          <div role="status">${this.#tests(state)}</div>
          ${this.#testActions(state)}
        </section>
        ${this.#replay()}
        <section>
          <h3><label for="deploy-message">${deploy.message}</label></h3>
          <textarea
            id="deploy-message"
            class="field"
            dir="auto"
            rows="2"
            maxlength=${MAX_MESSAGE_LENGTH}
            aria-describedby="deploy-hint"
            .value=${this.#message}
            @input=${({ currentTarget }: Event) =>
              (this.#message = (currentTarget as HTMLTextAreaElement).value)}
            @keydown=${handleKey}
          ></textarea>
          <p id="deploy-hint" class="panel-hint">
            ${deploy.messageHint} ${isAsking || isOff ? nothing : deploy.deployKey} ${deploy.newLineKey}
          </p>
        </section>
      </div>
      <footer>
        <p class="deploy-wait" role="status">
          ${this.#isConfirmed && state === 'testing' ? deploy.afterTests : ''}
        </p>
        <button type="button" class="button" @click=${() => this.#cancel()}>${common.cancel}</button>
        <button
          type="submit"
          class=${isAsking ? 'button primary caution' : 'button primary'}
          aria-disabled=${isOff || this.#isConfirmed}
        >
          ${isAsking ? deploy.anyway : deploy.deploy}
        </button>
      </footer>
    </form>`;
  }

  /** Whether a share of the runs can get the version. */
  get #canRollOut(): boolean {
    const { rollouts, serviceState } = this.#workspace;
    const { isOffered, running } = rollouts;
    if (!isOffered || running || serviceState.live === undefined) return false;
    // What is live cannot be rolled out.
    return !this.#isLive;
  }

  /** Whether the draft is known to be the same as what is live. */
  get #isLive(): boolean {
    const comparison = this.#comparison;
    if (typeof comparison !== 'object') return false;
    const { source, isOutdated } = comparison;
    return !isOutdated && sameWork(source, this.#workspace.document.source);
  }

  /** Whom the version reaches; with the choice of a share, or with the rollout that runs. */
  #target(): TemplateResult {
    const { rollouts, session, serviceState } = this.#workspace;
    const { running, error, changing } = rollouts;
    const { deploy, rollout } = texts();
    if (running) {
      const { version, live } = running;
      return html`<p>${deploy.whileRolledOut(version)}</p>
        ${error ? html`<p class="rollout-error" role="alert">${rollout[error]}</p>` : nothing}
        ${rolloutView(running, {
          isChanging: changing !== undefined,
          isOff: changing !== undefined,
          onChange: () => void startRollout(rollouts, version, live.version),
          onEnd: () => void rollouts.end(),
        })}`;
    }
    if (!this.#canRollOut) return html`<p>${this.#targetText()}</p>`;
    const choice = (isShare: boolean, label: string, hint: string) =>
      html`<label class="deploy-choice">
        <input
          type="radio"
          name="deploy-target"
          .checked=${this.#isShare === isShare}
          @change=${() => {
            this.#isShare = isShare;
            session.screen.draw();
          }}
        />
        <span>${label}<span class="panel-hint">${hint}</span></span>
      </label>`;
    return html`<div role="radiogroup" aria-label=${deploy.target}>
      ${choice(false, serviceState.isPinned ? deploy.toNone : deploy.toAll, this.#targetText())}
      ${choice(true, deploy.toShare, deploy.toShareHint(serviceState.live ?? ''))}
      ${this.#isShare ? rolloutFields(this.#terms, () => session.screen.draw()) : nothing}
    </div>`;
  }

  /** The text on real runs, where there are some that the user may see. */
  #replay(): TemplateResult | typeof nothing {
    const { access, serviceState, work } = this.#workspace;
    if (!access.canSeeRuns || !access.canWrite || serviceState.live === undefined) return nothing;
    return html`<section>
      <h3>${texts().replay.title}</h3>
      ${replayView(this.#workspace, work)}
    </section>`;
  }

  /** Whom the version reaches. */
  #targetText(): string {
    const { saving, serviceState, work } = this.#workspace;
    const { live, isPinned, hasVersions } = serviceState;
    const { deploy } = texts();
    if (saving.exists && !hasVersions && this.#comparison !== 'none') return deploy.everyoneUnlessPinned;
    if (live === undefined) return deploy.everyone;
    // The service makes no version of what the newest one was made of. Where one is chosen to be live, that may be another.
    if (this.#isLive && (!isPinned || isDeployed(work))) return deploy.isLive;
    return isPinned ? deploy.staysLive(live) : deploy.replaces(live);
  }

  #changes(): TemplateResult {
    const { deploy, common } = texts();
    const comparison = this.#comparison;
    if (comparison === 'none') return html`<p>${deploy.firstVersion}</p>`;
    if (comparison === 'loading') return html`<p>${common.loading}</p>`;
    if (comparison === 'failed' || comparison === 'unknown') return html`<p>${deploy.notCompared}</p>`;
    const { version, source } = comparison;
    const present = this.#workspace.document.source;
    if (sameWork(source, present)) return html`<p>${deploy.same(version)}</p>`;
    if (source.contents === present.contents) return html`<p>${deploy.onlyTests(version)}</p>`;
    return html`<text-difference
      .was=${source.contents}
      .is=${present.contents}
      .label=${deploy.changesSince(version)}
    ></text-difference>`;
  }

  /** How the tests ended. */
  #tests(state: SheetState): TemplateResult {
    const { deploy, tests: words, status } = texts();
    const { access, work, document } = this.#workspace;
    const all = document.tests.entries.length;
    if (state === 'testing') {
      const { done, all: count } = work.testing ?? { done: 0, all: this.#untested.length };
      return html`<p>
        ${done ? words.progress(formatNumber(done), formatNumber(count)) : words.running(count)}
      </p>`;
    }
    if (state === 'broken')
      return html`<p class="deploy-verdict">${icon('fail')}${texts().problems.failed}</p>`;
    if (state === 'untested') {
      const reason = this.#error && actionErrorReason(this.#error);
      const text = reason
        ? deploy.untestedBecause(this.#untested.length, reason)
        : deploy.untested(this.#untested.length);
      return html`<p class="deploy-verdict">${icon('warning')}${text}</p>`;
    }
    const failed = this.#failed.map((entry) => document.tests.titleOf(entry));
    if (failed.length) {
      const more = failed.length - MAX_NAMES;
      return html`<p class="deploy-verdict">${icon('warning')}${deploy.failed(failed.length)}</p>
        <ul class="failed-tests">
          ${failed.slice(0, MAX_NAMES).map((name) => html`<li>${name}</li>`)}
          ${more > 0 ? html`<li>${deploy.andMore(formatNumber(more))}</li>` : nothing}
        </ul>`;
    }
    if (!all) return html`<p>${deploy.noTests}</p>`;
    const { passed, ran } = countTests(work.tests);
    if (!passed && !ran) return html`<p>${access.canWrite ? deploy.noTestRuns : deploy.untested(all)}</p>`;
    const said = [...(passed ? [status.testsPassed(passed)] : []), ...(ran ? [status.testsRan(ran)] : [])];
    return html`<p class="deploy-verdict">${icon(passed ? 'pass' : 'ran')}${said.join(', ')}</p>`;
  }

  /** What the user can do about the tests. */
  #testActions(state: SheetState): TemplateResult | typeof nothing {
    const { dock } = this.#workspace;
    const { deploy, tests } = texts();
    const button = (label: string, run: () => void, onStop?: () => void) =>
      startButton({ className: 'button quiet', content: label, isOff: false, onStart: run }, onStop);
    const show = (panel: 'tests' | 'build') => {
      this.#cancel();
      dock.focus(panel);
    };
    if (state === 'broken') return button(deploy.showProblems, () => show('build'));
    if (state === 'failed') return button(deploy.showTests, () => show('tests'));
    if (state === 'settled') return nothing;
    const isTesting = state === 'testing';
    return button(tests.runAll, () => void this.#runTests(), isTesting ? () => this.#stopTests() : undefined);
  }
}
