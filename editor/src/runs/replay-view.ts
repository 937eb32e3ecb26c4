import { type TemplateResult, html, nothing } from 'lit/html.js';
import {
  type BuilderClient,
  type DraftLocation,
  HttpError,
  type Replay,
  type ReplayResult,
} from 'plugin-editor/client.js';
import { formatDuration, formatMoment, formatNumber, formatRecent } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import '../pipeline/long-text.ts';
import '../pipeline/text-difference.ts';
import { errorTitle, traceLines } from '../pipeline/logs.ts';
import type { UseOfBuild } from '../pipeline/pipeline.ts';
import { icon } from '../ui/icon.ts';
import { startButton } from '../ui/start-button.ts';
import { LightElement, define } from '../ui/light-element.ts';

/** The open plugin, as far as it is tried on real runs. */
export interface ReplayHost {
  readonly session: {
    readonly client: Pick<BuilderClient, 'replay' | 'getRun'>;
    readonly location: DraftLocation;
    readonly signal: AbortSignal;
  };
  readonly actions: {
    readonly pipeline: { readonly action: string | undefined; stop: () => void };
    /** Saves and builds the text, unless it is built, and then does `use` with its key. Resolves with whether it did. */
    ensureBuilt: (retry: () => void, use: UseOfBuild) => Promise<boolean>;
  };
  readonly document: {
    readonly sourceKey: string;
    readonly editor: { goTo: (line: number, column: number) => void };
  };
}

/** Why a replay ended without a result: the key of a text. */
type Reason = 'noPayloads' | 'notBuilt' | 'busy' | 'failed';

type State =
  | { kind: 'none' }
  | { kind: 'building' }
  | { kind: 'running' }
  | { kind: 'stopped' }
  | { kind: 'ended'; counts: Replay }
  | { kind: 'unfinished'; reason: Reason };

function reasonOf(error: unknown): Reason {
  if (!(error instanceof HttpError)) return 'failed';
  if (error.code === 'no-payloads') return 'noPayloads';
  if (error.code === 'not-built') return 'notBuilt';
  return error.status === 429 ? 'busy' : 'failed';
}

/** Tries the text on the inputs of the newest real runs, and shows first what would end in another way. */
class ReplayView extends LightElement {
  static override properties = {
    state: { state: true },
    results: { state: true },
    inputs: { state: true },
    work: { attribute: false },
  };

  declare protected state: State;
  declare protected results: readonly ReplayResult[];
  /** The inputs of runs that were opened. */
  declare protected inputs: ReadonlyMap<string, string>;
  /** Made anew for each drawing of the page. */
  declare work: object | undefined;
  /** Declared alone: a field would forget what was set before the module was loaded. */
  declare host: ReplayHost;
  #abort: AbortController | undefined;
  /** Identifies the text that was tried. */
  #tried = '';

  constructor() {
    super();
    this.state = { kind: 'none' };
    this.results = [];
    this.inputs = new Map();
    this.work = undefined;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#stop();
  }

  protected override render(): TemplateResult {
    const words = texts().replay;
    const { kind } = this.state;
    const isRunning = kind === 'building' || kind === 'running';
    const isOff = this.host.actions.pipeline.action !== undefined;
    return html`<div class="replay">
      <div class="replay-head">
        <p role="status">${this.#status()}</p>
        ${startButton(
          {
            className: 'button quiet',
            content: kind === 'none' ? words.start : words.again,
            isOff,
            onStart: () => void this.#run(),
          },
          isRunning ? () => this.#stop() : undefined,
        )}
      </div>
      ${this.#isOutdated ? html`<p class="panel-hint">${texts().result.before}</p>` : nothing} ${this.#list()}
    </div>`;
  }

  /** Whether the text changed since it was tried. */
  get #isOutdated(): boolean {
    const { kind } = this.state;
    return (kind === 'ended' || kind === 'stopped') && this.#tried !== this.host.document.sourceKey;
  }

  #status(): string {
    const words = texts().replay;
    const { state } = this;
    switch (state.kind) {
      case 'none':
        return words.hint;
      case 'building':
        return words.building;
      case 'running':
        return words.running(formatNumber(this.results.length));
      case 'stopped':
        return words.stopped(this.results.length);
      case 'unfinished':
        return words[state.reason];
      default: {
        const { replayed, same, different, failed, skipped } = state.counts;
        if (!replayed) return skipped ? words.allSkipped : words.noRuns;
        return words.ended({ replayed, same, different, failed, skipped });
      }
    }
  }

  /** What ended in another way: first what failed and had not. */
  #list(): TemplateResult | typeof nothing {
    const words = texts().replay;
    const changed = this.results.filter(({ same }) => !same);
    const isNewFailure = ({ before, after }: ReplayResult) => Boolean(after.error && !before.error);
    const failed = changed.filter(isNewFailure);
    const others = changed.filter((one) => !isNewFailure(one));
    if (!changed.length) return nothing;
    return html`<ol class="history" aria-label=${words.differences}>
      ${[...failed, ...others].map((result) => this.#result(result, isNewFailure(result)))}
    </ol>`;
  }

  #result(result: ReplayResult, isNewFailure: boolean): TemplateResult {
    const words = texts().replay;
    const { uuid, before, after } = result;
    const input = this.inputs.get(uuid);
    const load = ({ currentTarget }: Event) => {
      if ((currentTarget as HTMLDetailsElement).open) void this.#loadInput(uuid);
    };
    const at = timeOf(uuid);
    const onJump = (line: number, column: number) => {
      // The sheet that deploys covers the text.
      this.closest('dialog')?.close();
      this.host.document.editor.goTo(line, column);
    };
    return html`<li>
      <details class="entry run-record" @toggle=${load}>
        <summary>
          ${icon('chevron')}<span class="run-end" data-tone=${isNewFailure ? 'bad' : 'calm'}
            >${icon(isNewFailure ? 'fail' : 'ran')}</span
          >${isNewFailure ? words.failsNow : words.differs}<span
            class="entry-hint"
            title=${at ? formatMoment(at) : nothing}
            >${at ? words.runOf(formatRecent(at)) : uuid}</span
          ><span class="entry-outcome">${formatDuration(after.took)}</span>
        </summary>
        <div class="entry-fields">
          ${
            input === undefined
              ? nothing
              : html`<p class="result-label">${texts().runs.input}</p>
                  <long-text .text=${input} .label=${texts().runs.input}></long-text>`
          }
          ${
            before.output !== undefined && after.output !== undefined
              ? html`<p class="result-label">${words.difference}</p>
                  <text-difference
                    .was=${laidOut(before.output)}
                    .is=${laidOut(after.output)}
                    .label=${words.difference}
                  ></text-difference>`
              : html`${endingView(words.before, before)}${endingView(words.after, after, onJump)}`
          }
          ${before.truncated || after.truncated ? html`<p class="panel-hint">${texts().runs.truncated}</p>` : nothing}
        </div>
      </details>
    </li>`;
  }

  async #run(): Promise<void> {
    const { session, actions } = this.host;
    const abort = (this.#abort = new AbortController());
    const signal = AbortSignal.any([abort.signal, session.signal]);
    this.results = [];
    this.state = { kind: 'building' };
    const isTried = await actions.ensureBuilt(
      () => void this.#run(),
      (sourceKey, stopped) => {
        stopped.addEventListener('abort', () => this.#stop());
        // Once the service has begun, a save changes nothing.
        return new Promise((resolve) => void this.#replay(sourceKey, signal, resolve));
      },
    );
    if (isTried || signal.aborted) return;
    this.state = { kind: 'unfinished', reason: 'notBuilt' };
    await this.#keepFocus();
  }

  /** Tries what is built. `onBegin` is called once the service has begun, or does not begin. */
  async #replay(sourceKey: string, signal: AbortSignal, onBegin: () => void): Promise<void> {
    const { client, location } = this.host.session;
    this.#tried = sourceKey;
    this.state = { kind: 'running' };
    try {
      const counts = await client.replay(location, {
        signal,
        onResult: (result) => {
          this.results = [...this.results, result];
          onBegin();
        },
      });
      if (!signal.aborted) this.state = { kind: 'ended', counts };
    } catch (error) {
      if (!signal.aborted) this.state = { kind: 'unfinished', reason: reasonOf(error) };
    } finally {
      onBegin();
      await this.#keepFocus();
    }
  }

  #stop(): void {
    if (!this.#abort || this.#abort.signal.aborted) return;
    this.#abort.abort();
    if (this.state.kind === 'building') this.host.actions.pipeline.stop();
    if (this.state.kind === 'building' || this.state.kind === 'running') this.state = { kind: 'stopped' };
  }

  /** Stop is gone once it has ended: the button in its place gets the focus. */
  async #keepFocus(): Promise<void> {
    await this.updateComplete;
    const { activeElement } = document;
    if (activeElement === document.body || activeElement === this.closest('dialog'))
      this.querySelector<HTMLElement>('.replay-head .button')?.focus();
  }

  async #loadInput(uuid: string): Promise<void> {
    const { client, signal } = this.host.session;
    try {
      const { input } = await client.getRun(uuid, { signal });
      if (typeof input === 'string') this.inputs = new Map([...this.inputs, [uuid, input]]);
    } catch {
      // The difference is shown without.
    }
  }
}

/** How a run ended: with an output, or with an error. `onJump` goes to the places that the error names. */
function endingView(
  label: string,
  { output, error }: ReplayResult['before'],
  onJump?: (line: number, column: number) => void,
): TemplateResult {
  const text = error ? `${errorTitle(error.code)}\n${error.message ?? ''}`.trimEnd() : (output ?? '');
  if (error && onJump) {
    return html`<p class="result-label">${label}</p>
      <div class="output trace" dir="ltr" tabindex="0" role="group" aria-label=${label}>
        <span class="verbatim">${traceLines(text, onJump)}</span>
      </div>`;
  }
  return html`<p class="result-label">${label}</p>
    <long-text .text=${text} .label=${label}></long-text>`;
}

/** JSON with each member in a line, so that its difference is one of lines. */
function laidOut(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** When a run was requested: its id is a UUIDv7, which begins with the time. */
function timeOf(uuid: string): Date | undefined {
  const [, time] = /^([\da-f]{8}-[\da-f]{4})-7/i.exec(uuid) ?? [];
  return time ? new Date(Number.parseInt(time.replace('-', ''), 16)) : undefined;
}

define('replay-view', ReplayView);

declare global {
  interface HTMLElementTagNameMap {
    'replay-view': ReplayView;
  }
}
