import { type TemplateResult, html, nothing } from 'lit/html.js';
import { repeat } from 'lit/directives/repeat.js';
import type { PluginSource } from 'plugin-editor/client.js';
import { formatDateTime } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import type { DeployState } from '../pipeline/progress.ts';
import { sameWork } from '../plugin/source.ts';
import type { PluginService } from '../service/plugin-service.ts';
import type { Version } from '../service/history-records.ts';
import { listVersions } from '../service/history.ts';
import { icon } from '../ui/icon.ts';
import { LightElement, define } from '../ui/light-element.ts';
import { loadPartOrNotify } from '../ui/load-part-or-notify.ts';
import type { Notice, Notices } from '../ui/notices.ts';
import { visibleText } from '../ui/visible-text.ts';

export interface VersionsOptions {
  service: Pick<PluginService, 'readList' | 'readRun' | 'version' | 'setLive'>;
  notices: Notices;
  access: () => { canWrite: boolean; canDeploy: boolean };
  /** The draft as it is in the editor. */
  current: () => PluginSource;
  /** Puts a source in place of the draft, and saves it. */
  restore: (source: PluginSource) => void;
  serviceState: { setLive: (live: string | undefined, isPinned: boolean) => void };
  onLive: (version: string | null) => void;
  signal: AbortSignal;
}

const NOTICE = 'versions';

/** The versions, newest first. The user can compare them, bring one back into the draft, and make one live. */
export class VersionsPanel extends LightElement {
  static override properties = {
    versions: { state: true },
    status: { state: true },
    live: { state: true },
    isPinned: { state: true },
    comparedTo: { state: true },
  };

  declare protected versions: readonly Version[];
  declare protected status: 'loading' | 'ready' | 'failed';
  declare protected live: string | undefined;
  declare protected isPinned: boolean;
  /** The version that others are compared with; `undefined`: the draft. */
  declare protected comparedTo: string | undefined;
  options!: VersionsOptions;
  #next: string | undefined;
  /** Counts the requests for the list, so that the response to a former one is not shown. */
  #loads = 0;
  /** The deployment that the list was loaded after. Another one makes the list stale. */
  #loadedFor: string | undefined;
  /** The sources that were loaded. Versions never change, so each is loaded once. */
  readonly #sources = new Map<string, Promise<PluginSource>>();

  constructor() {
    super();
    this.versions = [];
    this.status = 'loading';
    this.live = undefined;
    this.isPinned = false;
    this.comparedTo = undefined;
  }

  /** The panel is in view: loads the list, unless it was loaded after the last deployment. */
  refresh(deployment: DeployState, live: string | undefined, isPinned: boolean): void {
    this.live = live;
    this.isPinned = isPinned;
    // The language may have changed.
    this.requestUpdate();
    const wanted = deployment.kind === 'deployed' ? deployment.version : deployment.kind;
    if (wanted === this.#loadedFor || deployment.kind === 'deploying') return;
    this.#loadedFor = wanted;
    void this.#load();
  }

  /** The panel is no longer in view. The next time, the list is loaded again, because other pages may deploy meanwhile. */
  leave(): void {
    this.#loadedFor = undefined;
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
    return html`${this.#pinnedNote()}${this.#comparisonChoice()}
      <ol class="history" aria-label=${words.title}>
        ${repeat(
          this.versions,
          ({ version }) => version,
          (version) => this.#version(version),
        )}
      </ol>
      ${
        this.#next
          ? html`<button type="button" class="button quiet" @click=${() => void this.#load(this.#next)}>
              ${texts().common.showMore}
            </button>`
          : nothing
      }`;
  }

  /** Says that a version was chosen to be live, with a button that makes the newest live again. */
  #pinnedNote(): TemplateResult | typeof nothing {
    if (!this.isPinned || !this.live) return nothing;
    const words = texts().versions;
    return html`<div class="history-note">
      <p>${words.pinned(this.live)}</p>
      ${
        this.options.access().canDeploy
          ? html`<button type="button" class="button" @click=${() => void this.#setLive(null)}>
              ${words.makeNewestLive}
            </button>`
          : nothing
      }
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

  #version({ version, deployedAt, actor, message }: Version): TemplateResult {
    const words = texts().versions;
    const { canWrite, canDeploy } = this.options.access();
    const at = formatDateTime(new Date(deployedAt));
    const isLive = version === this.live;
    const base = this.comparedTo;
    const button = (label: string, run: () => void, name = label) =>
      html`<button type="button" class="button quiet" aria-label=${words.of(name, version)} @click=${run}>
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
        }<time datetime=${deployedAt}>${actor ? words.deployedBy(at, visibleText(actor)) : at}</time>
      </div>
      ${message ? html`<p class="history-message" dir="auto">${message}</p>` : nothing}
      <div class="history-actions">
        ${base === version ? nothing : button(words.compare, compare, compareName)}
        ${canWrite ? button(words.bringBack, () => void this.#bringBack(version)) : nothing}
        ${canDeploy && !isLive ? button(words.makeLive, () => void this.#setLive(version)) : nothing}
      </div>
    </li>`;
  }

  async #load(after?: string): Promise<void> {
    const { service, signal } = this.options;
    const number = ++this.#loads;
    this.status = 'loading';
    try {
      const { versions, next } = await listVersions(service, signal, after);
      if (number !== this.#loads) return;
      this.versions = after ? [...this.versions, ...versions] : versions;
      this.#next = next ?? undefined;
      this.status = 'ready';
    } catch {
      if (number === this.#loads && !signal.aborted) this.status = 'failed';
    }
  }

  /** A version's source. Where it cannot be loaded, shows a notice, and resolves with `undefined`. */
  async #loadSource(version: string): Promise<PluginSource | undefined> {
    const { service, signal } = this.options;
    const loading = this.#sources.get(version) ?? service.version(version, signal);
    this.#sources.set(version, loading);
    try {
      return await loading;
    } catch {
      this.#sources.delete(version);
      this.#notify('alert', () => texts().versions.failed);
      return undefined;
    }
  }

  async #compareWithDraft(version: string): Promise<void> {
    const source = await this.#loadSource(version);
    if (!source) return;
    const draft = this.options.current();
    if (sameWork(source, draft)) return this.#notify('note', () => texts().versions.same(version));
    const { canWrite } = this.options.access();
    const { versions } = texts();
    const choices = canWrite ? [{ label: versions.bringBack, value: 'back' as const }] : [];
    const choice = await this.#compare([version, source], [versions.draft, draft], choices);
    if (choice === 'back') this.#restore(version, source);
  }

  /** Compares two versions; the older one is shown as the old text. */
  async #compareVersions(base: string, version: string): Promise<void> {
    const ageOf = (wanted: string) => this.versions.findIndex((known) => known.version === wanted);
    const [one, other] = ageOf(base) > ageOf(version) ? [base, version] : [version, base];
    const [before, after] = [await this.#loadSource(one), await this.#loadSource(other)];
    if (!before || !after) return;
    if (sameWork(before, after)) return this.#notify('note', () => texts().versions.sameAs(one, other));
    await this.#compare([one, before], [other, after], []);
  }

  async #compare(
    [oneLabel, one]: [string, PluginSource],
    [otherLabel, other]: [string, PluginSource],
    choices: readonly { label: string; value: 'back' }[],
  ): Promise<'back' | undefined> {
    const part = await loadPartOrNotify(this.options.notices, () => import('../draft/compare-dialog.ts'));
    return part?.showCompareDialog({
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
    const source = await this.#loadSource(version);
    if (!source) return;
    if (sameWork(source, this.options.current()))
      return this.#notify('note', () => texts().versions.same(version));
    this.#restore(version, source);
  }

  #restore(version: string, { contents, lang, tests }: PluginSource): void {
    const { current, restore, notices } = this.options;
    const former = current();
    // Fields that the editor does not know stay as they are in the draft.
    const { tests: _, ...rest } = former;
    restore({ ...rest, contents, lang, ...(tests ? { tests } : {}) });
    notices.show(NOTICE, () => ({
      tone: 'note',
      text: texts().versions.broughtBack(version),
      actions: [
        {
          label: texts().versions.undoBringBack,
          run: () => {
            notices.hide(NOTICE);
            restore(former);
          },
        },
        notices.dismiss(NOTICE),
      ],
    }));
  }

  async #setLive(version: string | null): Promise<void> {
    const { service, serviceState, onLive, signal } = this.options;
    try {
      const { live, latest, pinned } = await service.setLive(version, signal);
      const now = live ?? latest ?? undefined;
      serviceState.setLive(now, Boolean(pinned));
      onLive(version);
      this.#notify('note', () =>
        version === null ? texts().versions.newestLive(now ?? '') : texts().versions.madeLive(version),
      );
    } catch {
      if (!signal.aborted) this.#notify('alert', () => texts().versions.liveFailed);
    }
  }

  #notify(tone: 'note' | 'alert', text: () => string): void {
    const { notices } = this.options;
    const notice = (): Notice => ({ tone, text: text(), actions: [notices.dismiss(NOTICE)] });
    notices.show(NOTICE, notice, { isPassing: tone === 'note' });
  }
}

define('versions-panel', VersionsPanel);

declare global {
  interface HTMLElementTagNameMap {
    'versions-panel': VersionsPanel;
  }
}
