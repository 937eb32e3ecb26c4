import { type TemplateResult, html, nothing } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import { texts } from '../locales/locale.ts';
import type { Run } from '../pipeline/pipeline.ts';
import { recordedMocks } from '../plugin/mocks.ts';
import { type ActionError, actionErrorReason } from '../pipeline/progress.ts';
import { type Work, isResolved } from '../pipeline/work.ts';
import { icon } from '../ui/icon.ts';
import { startButton } from '../ui/start-button.ts';
import type { Schemas } from '../types/schema.ts';
import { serviceProblemOf, valueField } from '../types/value-field.ts';
import { resultView } from './result-view.ts';

/** The state of the panel that runs a payload. It is not part of the draft and is lost with the page. */
export interface PayloadRun {
  payload: string;
  /** Whether the calls of the plugin are made. */
  makesCalls: boolean;
  run?: Run | undefined;
  before?: Run | undefined;
  /** Whether it runs now. */
  isRunning: boolean;
  /** Why the last run did not complete; unset while another one runs. */
  error?: ActionError | undefined;
}

export interface RunPanelOptions {
  state: PayloadRun;
  work: Work;
  /** The types of the plugin's input and output, where its namespace has any. */
  schemas?: Schemas | undefined;
  canEdit: boolean;
  /** Whether the calls of the plugin may be made. */
  canCall: boolean;
  onInput: (payload: string) => void;
  onMakeCalls: (makesCalls: boolean) => void;
  /** Runs the plugin with the payload. */
  onRun: () => void;
  onStop: () => void;
  /** Adds a test with the payload. */
  onKeep: () => void;
  /** Takes the responses to the calls of a run into a test. */
  onTake: (run: Run) => void;
  onJump: (line: number, column: number) => void;
}

/** Runs the plugin with a payload that is typed in. */
export function runPanel(options: RunPanelOptions): TemplateResult {
  const { state, work, schemas, canEdit, onInput, onRun, onStop, onKeep } = options;
  const error = presentError(options);
  const words = texts().run;
  const run = startButton(
    {
      className: state.isRunning ? 'button' : 'button run-payload-button',
      content: html`${icon('run')}${words.run}`,
      keys: 'Control+Enter Meta+Enter',
      isOff: work.action !== undefined,
      onStart: onRun,
    },
    state.isRunning ? onStop : undefined,
  );
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
    ${callsSwitch(options)}
    <div class="panel-actions">
      ${run}${
        canEdit
          ? html`<button type="button" class="button quiet" @click=${onKeep}>${words.saveAsTest}</button>`
          : nothing
      }
      <p class="run-state" role="status" data-tone=${error ? 'bad' : 'busy'}>${stateLabel(state, error)}</p>
    </div>
    ${resultOf(options)}
  </div>`;
}

function callsSwitch({ state, canCall, onMakeCalls }: RunPanelOptions): TemplateResult | typeof nothing {
  if (!canCall) return nothing;
  const words = texts().calls;
  return html`<label class="setting">
      <input
        type="checkbox"
        role="switch"
        class="make-calls"
        aria-describedby="make-calls-hint"
        .checked=${live(state.makesCalls)}
        @change=${({ currentTarget }: Event) => onMakeCalls((currentTarget as HTMLInputElement).checked)}
      />
      <span>${words.make}</span>
    </label>
    <p id="make-calls-hint" class="panel-hint">${state.makesCalls ? words.made : words.notMade}</p>`;
}

/** Why the last run did not complete. After a lost connection it is said until the next run: the run has no result. */
const presentError = ({ state: { error }, work }: RunPanelOptions): ActionError | undefined =>
  error === 'connection' || (error && !isResolved(error, work)) ? error : undefined;

function stateLabel({ isRunning }: PayloadRun, error: ActionError | undefined): string {
  const words = texts().run;
  if (isRunning) return words.running;
  return error ? words.notRun(actionErrorReason(error)) : '';
}

function resultOf(options: RunPanelOptions): TemplateResult | typeof nothing {
  const { state, work, schemas, canEdit, canCall, onJump, onTake } = options;
  const { run, before, payload, isRunning } = state;
  if (!run) return nothing;
  const isCurrent =
    run.sourceKey === work.sourceKey &&
    !run.isOutdated?.() &&
    run.payload === payload &&
    (run.mocks === 'real') === (canCall && state.makesCalls);
  // The result is that of an earlier run, not of the one that runs or that failed.
  const staleness = isRunning || presentError(options) ? 'running' : isCurrent ? undefined : 'changed';
  const canTake = canEdit && run.mocks === 'real' && recordedMocks(run.calls ?? []).length > 0;
  return resultView({
    run,
    before,
    staleness,
    schemas,
    onTake: canTake ? () => onTake(run) : undefined,
    onJump,
  });
}
