import { type TemplateResult, html, nothing } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import { texts } from '../locales/locale.ts';
import type { Run } from '../pipeline/pipeline.ts';
import { type ActionError, actionErrorReason } from '../pipeline/progress.ts';
import { type Work, isResolved } from '../pipeline/work.ts';
import { icon, stopButton } from '../ui/icon.ts';
import type { Schemas } from '../types/schema.ts';
import { serviceProblemOf, valueField } from '../types/value-field.ts';
import { resultView } from './result-view.ts';

/** The state of the panel that runs a payload. It is not part of the draft and is lost with the page. */
export interface PayloadRun {
  payload: string;
  run?: Run | undefined;
  before?: Run | undefined;
  /** Whether it runs now. */
  isRunning: boolean;
  /** Why the last run did not complete. */
  error?: ActionError | undefined;
}

export interface RunPanelOptions {
  state: PayloadRun;
  work: Work;
  /** The types of the plugin's input and output, where its namespace has any. */
  schemas?: Schemas | undefined;
  canEdit: boolean;
  onInput: (payload: string) => void;
  /** Runs the plugin with the payload. */
  onRun: () => void;
  onStop: () => void;
  /** Adds a test with the payload. */
  onKeep: () => void;
  onJump: (line: number, column: number) => void;
}

/** Runs the plugin with a payload that is typed in. */
export function runPanel(options: RunPanelOptions): TemplateResult {
  const { state, work, schemas, canEdit, onInput, onRun, onStop, onKeep } = options;
  const error = presentError(options);
  const words = texts().run;
  const run = state.isRunning
    ? stopButton(onStop)
    : html`<button
        type="button"
        class="button run-payload-button"
        aria-disabled=${work.action !== undefined}
        aria-keyshortcuts="Control+Enter Meta+Enter"
        @click=${() => work.action === undefined && onRun()}
      >
        ${icon('run')}${words.run}
      </button>`;
  return html`<div class="run">
    <label for="run-payload">${words.payload}</label>
    ${
      schemas
        ? valueField({
            id: 'run-payload',
            className: 'payload',
            label: words.payload,
            value: state.payload,
            schema: schemas.input,
            describedBy: 'run-hint',
            serviceProblem: serviceProblemOf(state.run, state.payload, 'invalid-input'),
            onInput,
          })
        : html`<textarea
            id="run-payload"
            class="field payload"
            dir="ltr"
            rows="5"
            autocomplete="off"
            spellcheck="false"
            aria-describedby="run-hint"
            .value=${live(state.payload)}
            @input=${({ currentTarget }: Event) => onInput((currentTarget as HTMLTextAreaElement).value)}
          ></textarea>`
    }
    <p id="run-hint" class="panel-hint">${words.hint}</p>
    <div class="panel-actions">
      ${run}${
        canEdit
          ? html`<button type="button" class="button quiet" @click=${onKeep}>${words.saveAsTest}</button>`
          : nothing
      }
      <p class="run-state" role="status" data-tone=${error ? 'bad' : 'busy'}>
        ${stateLabel(state.isRunning, error)}
      </p>
    </div>
    ${resultOf(options)}
  </div>`;
}

/** Why the last run did not complete, while that error exists. */
const presentError = ({ state, work }: RunPanelOptions): ActionError | undefined =>
  !state.isRunning && state.error && !isResolved(state.error, work) ? state.error : undefined;

function stateLabel(isRunning: boolean, error: ActionError | undefined): string {
  const words = texts().run;
  if (isRunning) return words.running;
  return error ? words.notRun(actionErrorReason(error)) : '';
}

function resultOf(options: RunPanelOptions): TemplateResult | typeof nothing {
  const { state, work, schemas, onJump } = options;
  const { run, before, payload, isRunning } = state;
  if (!run) return nothing;
  const isCurrent = run.sourceKey === work.sourceKey && run.payload === payload;
  // The result is that of an earlier run, not of the one that runs or that failed.
  const staleness = isRunning || presentError(options) ? 'running' : isCurrent ? undefined : 'changed';
  return resultView({ run, before, staleness, schemas, onJump });
}
