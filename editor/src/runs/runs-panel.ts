import { type TemplateResult, html, nothing } from 'lit/html.js';
import { repeat } from 'lit/directives/repeat.js';
import type {
  BuilderClient,
  DraftLocation,
  PluginRun,
  PluginTest,
  RecordedCall,
} from 'plugin-editor/client.js';
import { formatDuration, formatMoment, formatRecent } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import '../pipeline/long-text.ts';
import { errorTitle, logsView, namesPlace, traceLines } from '../pipeline/logs.ts';
import { recordedMocks } from '../plugin/mocks.ts';
import { callsView } from '../tests/calls-view.ts';
import { icon } from '../ui/icon.ts';
import { LightElement, define } from '../ui/light-element.ts';
import { type ListStatus, isLoading, moreButton } from '../ui/more-button.ts';
import { type LazyReplayHost, replayView } from './lazy-replay-view.ts';

/** The open plugin, as far as the panel shows and changes it. */
export interface RunsHost extends LazyReplayHost {
  readonly session: LazyReplayHost['session'] & {
    readonly client: Pick<BuilderClient, 'listRuns' | 'getRun' | 'replay'>;
    readonly location: DraftLocation;
    readonly signal: AbortSignal;
  };
  readonly access: { readonly canWrite: boolean };
  addTest: (test: PluginTest) => void;
  takeCalls: (calls: readonly RecordedCall[], test: PluginTest) => void;
}

/** Which runs are listed. */
type Filter = 'all' | 'failed' | 'succeeded';

/** The latest runs of deployed versions: time, version, duration, logs and errors. */
class RunsPanel extends LightElement {
  static override properties = {
    runs: { state: true },
    status: { state: true },
    filter: { state: true },
    open: { state: true },
    work: { attribute: false },
  };

  declare protected runs: readonly PluginRun[];
  declare protected status: ListStatus;
  declare protected filter: Filter;
  /** The id of the run whose details are shown. */
  declare protected open: string | undefined;
  /** Made anew for each drawing of the page; `undefined` while the panel is not in view. */
  declare work: object | undefined;
  host!: RunsHost;
  #next: string | undefined;
  #isShown = false;
  #loads = 0;

  constructor() {
    super();
    this.runs = [];
    this.status = 'loading';
    this.filter = 'all';
    this.open = undefined;
    this.work = undefined;
  }

  /** Loads the runs when the panel comes into view. */
  protected override willUpdate(): void {
    const isShown = this.work !== undefined;
    if (isShown && !this.#isShown) void this.#load();
    this.#isShown = isShown;
  }

  protected override render(): TemplateResult {
    const words = texts().runs;
    const choose = ({ currentTarget }: Event) => {
      this.filter = (currentTarget as HTMLSelectElement).value as Filter;
      this.runs = [];
      void this.#load();
    };
    const option = (value: Filter, label: string) =>
      html`<option value=${value} ?selected=${value === this.filter}>${label}</option>`;
    return html`${this.host.access.canWrite ? replayView(this.host, this.work) : nothing}
      <div class="runs-head">
        <select class="field" aria-label=${words.which} @change=${choose}>
          ${option('all', words.all)}${option('failed', words.onlyFailed)}${option('succeeded', words.onlySucceeded)}
        </select>
        <button
          type="button"
          class="button quiet"
          aria-disabled=${isLoading(this.status)}
          @click=${() => isLoading(this.status) || void this.#load()}
        >
          ${icon('refresh')}${this.status === 'loading' ? texts().common.loading : words.refresh}
        </button>
      </div>
      ${this.#list()}`;
  }

  #list(): TemplateResult {
    const words = texts().runs;
    if (this.status === 'failed')
      return html`<p class="panel-empty panel-wait" role="status">${words.failed}</p>`;
    if (this.status === 'loading' && !this.runs.length) {
      return html`<p class="panel-empty panel-wait" role="status">${texts().common.loading}</p>`;
    }
    if (!this.runs.length) return html`<p class="panel-empty panel-wait">${words.none}</p>`;
    return html`<ol class="history" aria-label=${words.title}>
        ${repeat(
          this.runs,
          ({ uuid }) => uuid,
          (run) => this.#run(run),
        )}
      </ol>
      ${this.#next ? moreButton(this.status, words.failed, () => isLoading(this.status) || void this.#load(this.#next)) : nothing}`;
  }

  #run(run: PluginRun): TemplateResult {
    const words = texts().runs;
    const { uuid, timestamp, version, success, took, error } = run;
    const time = new Date(timestamp);
    const at = formatMoment(time);
    const why = error && (firstLine(error.message) ?? error.code);
    const toggle = ({ currentTarget }: Event) => {
      const { open } = currentTarget as HTMLDetailsElement;
      if (open) this.open = uuid;
      else if (this.open === uuid) this.open = undefined;
      if (open) void this.#loadDetails(run);
    };
    return html`<li>
      <details class="entry run-record" ?open=${this.open === uuid} @toggle=${toggle}>
        <summary>
          ${icon('chevron')}<span class="run-end" data-tone=${success ? 'good' : 'bad'}
            >${icon(success ? 'pass' : 'fail')}<span class="visually-hidden"
              >${success ? words.succeeded : words.runFailed}</span
            ></span
          ><time datetime=${timestamp} title=${at}>${formatRecent(time)}</time
          ><span class="entry-hint" dir="auto">${version}${why ? html` · <bdi>${why}</bdi>` : nothing}</span
          >${took === undefined ? nothing : html`<span class="entry-outcome">${formatDuration(took)}</span>`}
        </summary>
        ${this.open === uuid ? this.#details(run, at) : nothing}
      </details>
    </li>`;
  }

  #details(run: PluginRun, at: string): TemplateResult {
    const { uuid, version, error, logs, input, output, truncated, calls = [], waited } = run;
    const words = texts().runs;
    const mocks = recordedMocks(calls);
    const { host } = this;
    const onJump = (line: number, column: number) => host.document.editor.goTo(line, column);
    const title = errorTitle(error?.code);
    const test = {
      name: words.testName(at),
      payload: input ?? '',
      ...(typeof output === 'string' && !truncated ? { expected: output } : {}),
    };
    const save = () => host.addTest({ ...test, ...(mocks.length ? { calls: mocks } : {}) });
    const isCut = Boolean(truncated) && input !== undefined && byteLength(input) < run.inputBytes;
    const canSave = typeof input === 'string' && !isCut && host.access.canWrite;
    const payload = (label: string, text: string | null | undefined) =>
      typeof text === 'string'
        ? html`<p class="result-label">${label}</p>
            <long-text .text=${text} .label=${label}></long-text>`
        : nothing;
    return html`<div class="entry-fields">
      ${
        error
          ? html`<p class="result-label">${title}</p>
              <div class="output trace" dir="ltr" tabindex="0" role="group" aria-label=${title}>
                <span class="verbatim">${traceLines(error.message ?? '', onJump)}</span>
              </div>
              ${namesPlace(error.message ?? '') ? html`<p class="panel-hint">${words.otherVersion(version)}</p>` : nothing}`
          : nothing
      }
      ${logs?.length ? logsView(logs, onJump) : nothing}
      ${callsView(calls, canSave && mocks.length ? () => host.takeCalls(calls, test) : undefined)}
      ${waited ? html`<p class="panel-hint">${words.waited(formatDuration(waited))}</p>` : nothing}
      ${payload(words.input, input)}${payload(words.output, output)}
      ${truncated ? html`<p class="panel-hint">${words.truncated}</p>` : nothing}
      ${isCut && host.access.canWrite ? html`<p class="panel-hint">${words.inputCut}</p>` : nothing}
      ${typeof input === 'string' ? nothing : html`<p class="panel-hint">${words.notKept}</p>`}
      <p class="panel-hint run-id">${words.id} <code>${uuid}</code></p>
      ${
        canSave
          ? html`<div class="panel-actions">
              <button type="button" class="button" @click=${save}>${words.saveAsTest}</button>
            </div>`
          : nothing
      }
    </div>`;
  }

  async #load(after?: string): Promise<void> {
    const { client, location, signal } = this.host.session;
    const number = ++this.#loads;
    // The runs that are listed stay in view until the response comes.
    this.status = after ? 'more' : 'loading';
    const success = { all: undefined, failed: false, succeeded: true }[this.filter];
    try {
      const { runs, next } = await client.listRuns(location, { after, success, signal });
      if (number !== this.#loads) return;
      // What was loaded of a run stays: the list has less, and a run never changes.
      const known = new Map(this.runs.map((run) => [run.uuid, run]));
      this.runs = after ? [...this.runs, ...runs] : runs.map((run) => known.get(run.uuid) ?? run);
      this.#next = next;
      this.status = 'ready';
    } catch {
      if (number === this.#loads && !signal.aborted) this.status = after ? 'more-failed' : 'failed';
    }
  }

  /** Loads the details of a run: the list may have less than the service keeps. */
  async #loadDetails({ uuid }: PluginRun): Promise<void> {
    const { client, signal } = this.host.session;
    try {
      const whole = await client.getRun(uuid, { signal });
      this.runs = this.runs.map((run) => (run.uuid === uuid ? { ...run, ...whole } : run));
    } catch {
      // Without the details, what the list has is shown.
    }
  }
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** The first line of an error's message, for the list. */
const firstLine = (message: string | undefined) => message?.trimStart().split('\n', 1)[0] || undefined;

define('runs-panel', RunsPanel);

declare global {
  interface HTMLElementTagNameMap {
    'runs-panel': RunsPanel;
  }
}
