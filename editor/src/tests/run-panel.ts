import { type TemplateResult, html, nothing } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import type { PluginTest, RecordedCall } from 'plugin-editor/client.js';
import type { CodeEditor } from '../code/code-editor.ts';
import { texts } from '../locales/locale.ts';
import type { Pipeline, Run } from '../pipeline/pipeline.ts';
import { recordedMocks } from '../plugin/mocks.ts';
import { type ActionError, actionErrorReason } from '../pipeline/progress.ts';
import { type Work, isResolved } from '../pipeline/work.ts';
import { icon } from '../ui/icon.ts';
import type { Screen } from '../ui/screen.ts';
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

/** The open plugin, as far as the panel shows and runs it. */
export interface RunHost {
  readonly session: { readonly screen: Pick<Screen, 'draw'> };
  readonly access: { readonly canWrite: boolean; readonly canDeploy: boolean };
  readonly document: { readonly editor: Pick<CodeEditor, 'goTo'> };
  readonly types: {
    /** The types of the plugin's input and output, where its namespace has any. */
    readonly schemas: Schemas | undefined;
    /** Whether plugins of the namespace may make calls. */
    readonly canCall: boolean;
  };
  readonly actions: {
    readonly payload: PayloadRun;
    readonly pipeline: Pick<Pipeline, 'stop'>;
    runPayload: () => Promise<void>;
  };
  addTest: (test: PluginTest) => void;
  takeCalls: (calls: readonly RecordedCall[], test: PluginTest) => void;
}

/** Whether the calls of the plugin may be made. */
const canMakeCalls = ({ types, access }: RunHost): boolean => types.canCall && access.canDeploy;

/** Runs the plugin with a payload that is typed in. */
export function runPanel(host: RunHost, work: Work): TemplateResult {
  const { session, access, types, actions } = host;
  const { payload: state } = actions;
  const { schemas } = types;
  const error = presentError(state, work);
  const words = texts().run;
  const write = (payload: string) => {
    state.payload = payload;
    session.screen.draw();
  };
  const run = startButton(
    {
      className: state.isRunning ? 'button' : 'button run-payload-button',
      content: html`${icon('run')}${words.run}`,
      keys: 'Control+Enter Meta+Enter',
      isOff: work.action !== undefined,
      onStart: () => void actions.runPayload(),
    },
    state.isRunning ? () => actions.pipeline.stop() : undefined,
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
            serviceProblem: serviceProblemOf(state.run, state.payload),
            onInput: write,
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
            @input=${({ currentTarget }: Event) => write((currentTarget as HTMLTextAreaElement).value)}
          ></textarea>`
    }
    <p id="run-hint" class="panel-hint">${words.hint}</p>
    ${callsSwitch(host)}
    <div class="panel-actions">
      ${run}${
        access.canWrite
          ? html`<button
              type="button"
              class="button quiet"
              @click=${() => host.addTest({ payload: state.payload })}
            >
              ${words.saveAsTest}
            </button>`
          : nothing
      }
      <p class="run-state" role="status" data-tone=${error ? 'bad' : 'busy'}>${stateLabel(state, error)}</p>
    </div>
    ${resultOf(host, work)}
  </div>`;
}

function callsSwitch(host: RunHost): TemplateResult | typeof nothing {
  if (!canMakeCalls(host)) return nothing;
  const { payload: state } = host.actions;
  const words = texts().calls;
  const handleChange = ({ currentTarget }: Event) => {
    state.makesCalls = (currentTarget as HTMLInputElement).checked;
    host.session.screen.draw();
  };
  return html`<label class="setting">
      <input
        type="checkbox"
        role="switch"
        class="make-calls"
        aria-describedby="make-calls-hint"
        .checked=${live(state.makesCalls)}
        @change=${handleChange}
      />
      <span>${words.make}</span>
    </label>
    <p id="make-calls-hint" class="panel-hint">${state.makesCalls ? words.made : words.notMade}</p>`;
}

/** Why the last run did not complete. After a lost connection it is said until the next run: the run has no result. */
const presentError = ({ error }: PayloadRun, work: Work): ActionError | undefined =>
  error === 'connection' || (error && !isResolved(error, work)) ? error : undefined;

function stateLabel({ isRunning }: PayloadRun, error: ActionError | undefined): string {
  const words = texts().run;
  if (isRunning) return words.running;
  return error ? words.notRun(actionErrorReason(error)) : '';
}

function resultOf(host: RunHost, work: Work): TemplateResult | typeof nothing {
  const { access, document, types, actions } = host;
  const { payload: state } = actions;
  const { run, before, payload, isRunning } = state;
  if (!run) return nothing;
  const isCurrent =
    run.sourceKey === work.sourceKey &&
    !run.isOutdated?.() &&
    run.payload === payload &&
    (run.mocks === 'real') === (canMakeCalls(host) && state.makesCalls);
  // The result is that of an earlier run, not of the one that runs or that failed.
  const staleness = isRunning || presentError(state, work) ? 'running' : isCurrent ? undefined : 'changed';
  const { calls = [], outcome } = run;
  const canTake = access.canWrite && run.mocks === 'real' && recordedMocks(calls).length > 0;
  const take = () =>
    host.takeCalls(calls, { payload: run.payload, ...('result' in outcome && { expected: outcome.result }) });
  return resultView({
    run,
    before,
    staleness,
    schemas: types.schemas,
    onTake: canTake ? take : undefined,
    onJump: (line, column) => document.editor.goTo(line, column),
  });
}
