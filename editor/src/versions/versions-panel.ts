import { type TemplateResult, html, nothing } from 'lit/html.js';
import { repeat } from 'lit/directives/repeat.js';
import {
  type BuilderClient,
  type DraftLocation,
  HttpError,
  type PluginSource,
  type PluginVersion,
} from 'plugin-editor/client.js';
import { formatDateTime, formatPercent } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import type { Work } from '../pipeline/work.ts';
import { sameWork } from '../plugin/source.ts';
import { openDialog } from '../ui/dialog.ts';
import { icon } from '../ui/icon.ts';
import { loadModule } from '../ui/lazy-module.ts';
import { LightElement, define } from '../ui/light-element.ts';
import { type ListStatus, isLoading, moreButton } from '../ui/more-button.ts';
import type { Notice, Notices } from '../ui/notices.ts';
import { visibleText } from '../ui/visible-text.ts';
import { startRollout } from './rollout-terms.ts';
import { rolloutView, waitingNote } from './rollout-view.ts';
import type { Rollouts } from './rollouts.ts';

/** The open plugin, as far as the panel shows and changes it. */
export interface VersionsHost {
  readonly session: {
    readonly client: Pick<BuilderClient, 'listVersions' | 'getVersion' | 'setLive' | 'deleteVersion'>;
    readonly location: DraftLocation;
    readonly notices: Notices;
    readonly host: { live?: (live: { version: string | null }) => void };
    readonly signal: AbortSignal;
  };
  readonly access: { readonly canWrite: boolean; readonly canDeploy: boolean };
  readonly document: { readonly source: PluginSource };
  readonly serviceState: {
    readonly live: string | undefined;
    readonly isPinned: boolean;
    setLive: (live: string | undefined, isPinned: boolean) => void;
  };
  readonly rollouts: Rollouts;
  readonly saving: {
    /** Replaces the draft, and saves it, with a way back. `spare`: what need not be kept for that. */
    replace: (source: PluginSource, said: () => string, options: { spare: PluginSource }) => void;
  };
  /** Something was deleted, so there is room in the storage. */
  handleRoom: () => void;
}

const NOTICE = 'versions';

/** What a version has more or less than the one before it. */
export interface VersionChanges {
  /** Numbers of lines. */
  added: number;
  removed: number;
  hasOtherTests: boolean;
}

const pairOf = (before: string, version: string): string => `${before} ${version}`;

/** For how many of the newest versions the panel says what changed: each is loaded for it. */
const MAX_SUMMARIES = 10;

/** The versions, newest first. The user can compare them, bring one back into the draft, make one live, and delete one. */
export class VersionsPanel extends LightElement {
  static override properties = {
    versions: { state: true },
    status: { state: true },
    work: { attribute: false },
    comparedTo: { state: true },
    changes: { state: true },
    waiting: { state: true },
  };

  declare protected versions: readonly PluginVersion[];
  declare protected status: ListStatus;
  /** How far the plugin is, made anew for each drawing of the page; `undefined` while the panel is not in view. */
  declare work: Pick<Work, 'deployment'> | undefined;
  /** The version that others are compared with; `undefined`: the draft. */
  declare protected comparedTo: string | undefined;
  /** What changed with a version, by `pairOf` the version before and that one. */
  declare protected changes: ReadonlyMap<string, VersionChanges>;
  /** The version for which the user waits for the service; `null`: for the newest to be live. One at a time. */
  declare protected waiting: string | null | undefined;
  host!: VersionsHost;
  #next: string | undefined;
  /** Counts the requests for the list, so that the response to a former one is not shown. */
  #loads = 0;
  /** The deployment that the list was loaded after. Another one makes the list stale. */
  #loadedFor: string | undefined;
  #endWatch: (() => void) | undefined;
  /** The sources that were loaded. Versions never change, so each is loaded once. */
  readonly #sources = new Map<string, Promise<PluginSource>>();

  constructor() {
    super();
    this.versions = [];
    this.status = 'loading';
    this.work = undefined;
    this.comparedTo = undefined;
    this.changes = new Map();
    this.waiting = undefined;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#watch(false);
  }

  /** Loads the list when the panel comes into view, because other pages may deploy meanwhile, and after each deployment. */
  protected override willUpdate(): void {
    this.#watch(this.work !== undefined && this.host.access.canDeploy);
    const deployment = this.work?.deployment;
    if (deployment?.kind === 'deploying') return;
    const wanted = deployment?.kind === 'deployed' ? deployment.version : deployment?.kind;
    if (wanted === this.#loadedFor) return;
    this.#loadedFor = wanted;
    if (wanted !== undefined) void this.#load();
  }

  protected override render(): TemplateResult {
    const words = texts().versions;
    if (this.status === 'failed') {
      return html`<div class="panel-empty panel-wait">
        <p role="status">${words.failed}</p>
        <button type="button" class="button" @click=${() => void this.#load()}>
          ${texts().common.tryAgain}
        </button>
      </div>`;
    }
    if (this.status === 'loading' && !this.versions.length) {
      return html`<p class="panel-empty panel-wait" role="status">${texts().common.loading}</p>`;
    }
    if (!this.versions.length) return html`<p class="panel-empty panel-wait">${words.none}</p>`;
    return html`${this.#rollout()}${this.#pinnedNote()}${this.#comparisonChoice()}
      <ol class="history" aria-label=${words.title}>
        ${repeat(
          this.versions,
          ({ version }) => version,
          (version, index) => this.#version(version, index),
        )}
      </ol>
      ${this.#next ? moreButton(this.status, words.failed, () => isLoading(this.status) || void this.#load(this.#next)) : nothing}`;
  }

  /** Keeps the rollout current while it is in view. */
  #watch(isInView: boolean): void {
    if (isInView === (this.#endWatch !== undefined)) return;
    this.#endWatch?.();
    this.#endWatch = isInView ? this.host.rollouts.watch() : undefined;
  }

  get #isWaiting(): boolean {
    return this.waiting !== undefined || this.host.rollouts.changing !== undefined;
  }

  /** Says beside a version that the service has not answered yet, and takes no other request meanwhile. */
  async #waitFor<T>(version: string | null, work: () => Promise<T>): Promise<T> {
    this.waiting = version;
    try {
      return await work();
    } finally {
      this.waiting = undefined;
    }
  }

  #rollout(): TemplateResult | typeof nothing {
    const { access, rollouts } = this.host;
    const { last, error } = rollouts;
    if (!access.canDeploy) return nothing;
    const failure = error
      ? html`<p class="rollout-error" role="alert">${texts().rollout[error]}</p>`
      : nothing;
    if (!last) return html`${failure}`;
    return html`${failure}${rolloutView(last, {
      onChange: () => void this.#startRollout(last.version),
      onEnd: () => void this.#keepFocus(rollouts.end()),
      isChanging: rollouts.changing !== undefined,
      isOff: this.#isWaiting,
      onMakeLive: () => void this.#keepFocus(this.#setLive(last.version)),
    })}`;
  }

  /** Says that a version was chosen to be live, with a button that makes the newest live again. */
  #pinnedNote(): TemplateResult | typeof nothing {
    const { isPinned, live } = this.host.serviceState;
    // A rollout says what is live, too.
    if (!isPinned || !live || this.host.rollouts.running) return nothing;
    const words = texts().versions;
    return html`<div class="history-note">
      <p>${words.pinned(live)}</p>
      ${
        this.host.access.canDeploy
          ? html`<button
              type="button"
              class="button"
              aria-disabled=${this.#isWaiting}
              @click=${() => this.#isWaiting || void this.#setLive(null)}
            >
              ${words.makeNewestLive}
            </button>`
          : nothing
      }
      ${this.waiting === null ? waitingNote() : nothing}
    </div>`;
  }

  /** The choice of what to compare with, where there is more than the draft. */
  #comparisonChoice(): TemplateResult | typeof nothing {
    if (this.versions.length < 2) return nothing;
    const words = texts().versions;
    const choose = ({ currentTarget }: Event) =>
      (this.comparedTo = (currentTarget as HTMLSelectElement).value || undefined);
    const option = (value: string, label: string) =>
      html`<option value=${value} ?selected=${value === (this.comparedTo ?? '')}>${label}</option>`;
    return html`<div class="history-compare">
      <label for="compared-to">${words.compareTo}</label>
      <select id="compared-to" class="field" @change=${choose}>
        ${option('', words.draft)}${this.versions.map(({ version }) => option(version, version))}
      </select>
    </div>`;
  }

  #version({ version, deployedAt, actor, message }: PluginVersion, index: number): TemplateResult {
    const words = texts().versions;
    const { canWrite, canDeploy } = this.host.access;
    const at = formatDateTime(new Date(deployedAt));
    const isLive = version === this.host.serviceState.live;
    const isNewest = index === 0;
    const { isOffered, running, changing } = this.host.rollouts;
    const isWaiting = this.#isWaiting;
    const rolledOut = running?.version === version ? running : undefined;
    const canRollOut = canDeploy && !isLive && isOffered && !running;
    const before = this.versions[index + 1]?.version;
    const changes = before !== undefined && this.changes.get(pairOf(before, version));
    const base = this.comparedTo;
    const button = (label: string, run: () => void, name = label) =>
      html`<button
        type="button"
        class="button quiet"
        aria-label=${words.of(name, version)}
        aria-disabled=${isWaiting}
        @click=${() => isWaiting || run()}
      >
        ${label}
      </button>`;
    const compare = () =>
      void (base ? this.#compareVersions(base, version) : this.#compareWithDraft(version));
    const compareName = base ? words.compareWith(base) : words.compareDraft;
    return html`<li class="history-item">
      <div class="history-head">
        <strong>${version}</strong>${
          isLive
            ? html`<span class="badge live" title=${words.liveHint}>${icon('pass')}${words.live}</span>`
            : nothing
        }${
          rolledOut
            ? html`<span class="badge"
                >${texts().rollout.badge(formatPercent(rolledOut.percent / 100))}</span
              >`
            : nothing
        }<time datetime=${deployedAt}>${actor ? words.deployedBy(at, visibleText(actor)) : at}</time>
      </div>
      ${message ? html`<p class="history-message" dir="auto">${message}</p>` : nothing}
      ${before && changes ? html`<p class="history-changes">${words.changes(changes, before)}</p>` : nothing}
      <div class="history-actions">
        ${base === version ? nothing : button(words.compare, compare, compareName)}
        ${canWrite ? button(words.bringBack, () => void this.#bringBack(version)) : nothing}
        ${canDeploy && !isLive ? button(words.makeLive, () => void this.#setLive(version)) : nothing}
        ${canRollOut ? button(texts().rollout.start, () => void this.#startRollout(version)) : nothing}
        ${canDeploy && !isLive && !rolledOut && !isNewest ? button(words.delete, () => void this.#delete(version)) : nothing}
      </div>
      ${this.waiting === version || (changing === version && !rolledOut) ? waitingNote() : nothing}
    </li>`;
  }

  async #load(after?: string): Promise<void> {
    const { client, location, signal } = this.host.session;
    const number = ++this.#loads;
    this.status = after ? 'more' : 'loading';
    try {
      const { versions, next } = await client.listVersions(location, { after, signal });
      if (number !== this.#loads) return;
      this.versions = after ? [...this.versions, ...versions] : versions;
      this.#next = next;
      this.status = 'ready';
      void this.#summarize();
    } catch {
      if (number === this.#loads && !signal.aborted) this.status = after ? 'more-failed' : 'failed';
    }
  }

  /** Finds out what changed with each of the newest versions. */
  async #summarize(): Promise<void> {
    for (const [index, { version }] of this.versions.slice(0, MAX_SUMMARIES).entries()) {
      const before = this.versions[index + 1]?.version;
      if (before === undefined || this.changes.has(pairOf(before, version))) continue;
      try {
        const { countChangedLines } = await loadModule(() => import('../pipeline/difference-view.ts'));
        const [was, is] = [await this.#readSource(before), await this.#readSource(version)];
        const { contents, lang } = was;
        const changes = {
          ...countChangedLines(contents, is.contents),
          hasOtherTests: !sameWork(was, { ...is, contents, lang }),
        };
        this.changes = new Map([...this.changes, [pairOf(before, version), changes]]);
      } catch {
        // The versions are shown without.
        return;
      }
    }
  }

  /** A version's source. Where it cannot be loaded, shows a notice, and resolves with `undefined`. */
  async #loadSource(version: string): Promise<PluginSource | undefined> {
    try {
      return await this.#readSource(version);
    } catch {
      this.#notify('alert', () => texts().versions.failed);
      return undefined;
    }
  }

  async #readSource(version: string): Promise<PluginSource> {
    const { client, location, signal } = this.host.session;
    const loading = this.#sources.get(version) ?? client.getVersion(location, version, { signal });
    this.#sources.set(version, loading);
    try {
      return await loading;
    } catch (error) {
      this.#sources.delete(version);
      throw error;
    }
  }

  async #compareWithDraft(version: string): Promise<void> {
    const source = await this.#waitFor(version, () => this.#loadSource(version));
    if (!source) return;
    const draft = this.host.document.source;
    if (sameWork(source, draft)) return this.#notify('note', () => texts().versions.same(version));
    const { canWrite } = this.host.access;
    const { versions } = texts();
    const choices = canWrite ? [{ label: versions.bringBack, value: 'back' as const }] : [];
    const choice = await this.#compare([version, source], [versions.draft, draft], choices);
    if (choice === 'back') this.#restore(version, source);
  }

  /** Compares two versions; the older one is shown as the old text. */
  async #compareVersions(base: string, version: string): Promise<void> {
    const ageOf = (wanted: string) => this.versions.findIndex((known) => known.version === wanted);
    const [one, other] = ageOf(base) > ageOf(version) ? [base, version] : [version, base];
    const [before, after] = await this.#waitFor(version, async () => [
      await this.#loadSource(one),
      await this.#loadSource(other),
    ]);
    if (!before || !after) return;
    if (sameWork(before, after)) return this.#notify('note', () => texts().versions.sameAs(one, other));
    await this.#compare([one, before], [other, after], []);
  }

  async #compare(
    [oneLabel, one]: [string, PluginSource],
    [otherLabel, other]: [string, PluginSource],
    choices: readonly { label: string; value: 'back' }[],
  ): Promise<'back' | undefined> {
    const module = await this.host.session.notices.loadModule(() => import('../draft/compare-dialog.ts'));
    return module?.showCompareDialog({
      title: texts().versions.pair(oneLabel, otherLabel),
      text: '',
      versions: [
        { label: oneLabel, source: one },
        { label: otherLabel, source: other },
      ],
      choices,
    });
  }

  async #bringBack(version: string): Promise<void> {
    const source = await this.#waitFor(version, () => this.#loadSource(version));
    if (!source) return;
    if (sameWork(source, this.host.document.source))
      return this.#notify('note', () => texts().versions.same(version));
    this.#restore(version, source);
  }

  #restore(version: string, { contents, lang, tests }: PluginSource): void {
    // Fields that the editor does not know stay as they are in the draft.
    const { tests: _, ...rest } = this.host.document.source;
    const source = { ...rest, contents, lang, ...(tests ? { tests } : {}) };
    this.host.saving.replace(source, () => texts().versions.broughtBack(version), { spare: source });
  }

  async #setLive(version: string | null): Promise<void> {
    const { session, serviceState } = this.host;
    const { client, location, host, signal } = session;
    try {
      const { live, latest, pinned } = await this.#waitFor(version, () =>
        client.setLive(location, version, { signal }),
      );
      const now = live ?? latest ?? undefined;
      serviceState.setLive(now, Boolean(pinned));
      host.live?.({ version });
      void this.host.rollouts.load();
      this.#notify('note', () =>
        version === null ? texts().versions.newestLive(now ?? '') : texts().versions.madeLive(version),
      );
    } catch {
      if (!signal.aborted) this.#notify('alert', () => texts().versions.liveFailed);
    }
  }

  async #startRollout(version: string): Promise<void> {
    const { rollouts, serviceState } = this.host;
    const live = rollouts.running?.live.version ?? serviceState.live;
    if (live !== undefined) await this.#keepFocus(startRollout(rollouts, version, live));
  }

  /** The button that has the focus may be gone after a change. */
  async #keepFocus(change: Promise<void>): Promise<void> {
    await change;
    await this.updateComplete;
    if (document.activeElement === document.body) this.querySelector<HTMLElement>('button, select')?.focus();
  }

  async #delete(version: string): Promise<void> {
    const words = texts().versions;
    const isSure = await openDialog<true>({
      className: 'ask',
      title: words.deleteTitle(version),
      content: (close) =>
        html`<div class="dialog-form">
          <p>${words.deleteText}</p>
          <footer>
            <button type="button" class="button" @click=${() => close()}>${texts().common.cancel}</button>
            <button type="button" class="button primary" @click=${() => close(true)}>${words.delete}</button>
          </footer>
        </div>`,
    });
    const { client, location, signal } = this.host.session;
    if (!isSure || signal.aborted) return;
    try {
      await this.#waitFor(version, () => client.deleteVersion(location, version, { signal }));
    } catch (error) {
      if (signal.aborted) return;
      const isInUse = error instanceof HttpError && error.status === 409;
      const text = isInUse ? 'inUse' : 'deleteFailed';
      return this.#notify('alert', () => texts().versions[text](version));
    }
    this.versions = this.versions.filter((one) => one.version !== version);
    this.#sources.delete(version);
    // A list that was requested before it may still have it.
    if (isLoading(this.status)) void this.#load();
    else void this.#summarize();
    if (this.comparedTo === version) this.comparedTo = undefined;
    this.#notify('note', () => texts().versions.deleted(version));
    this.host.handleRoom();
    // The button that had the focus is gone.
    await this.updateComplete;
    this.querySelector<HTMLElement>('button, select')?.focus();
  }

  #notify(tone: 'note' | 'alert', text: () => string): void {
    const { notices } = this.host.session;
    const notice = (): Notice => ({ tone, text: text(), actions: [notices.dismiss(NOTICE)] });
    notices.show(NOTICE, notice, { isTransient: tone === 'note' });
  }
}

define('versions-panel', VersionsPanel);

declare global {
  interface HTMLElementTagNameMap {
    'versions-panel': VersionsPanel;
  }
}
