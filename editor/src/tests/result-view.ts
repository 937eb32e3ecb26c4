import type { PluginTest } from 'plugin-editor/client.js';
import { type TemplateResult, html, nothing } from 'lit/html.js';
import { formatDuration } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import '../pipeline/long-text.ts';
import { errorTitle, logsView, traceLines } from '../pipeline/logs.ts';
import type { Run } from '../pipeline/pipeline.ts';
import '../pipeline/text-difference.ts';
import { type Icon, icon } from '../ui/icon.ts';
import { type Schemas, descriptionOf, pathOf, pathText, schemasAt, typeLabel } from '../types/schema.ts';
import { callsView } from './calls-view.ts';
import { type JsonDifference, differencesOf } from './json-difference.ts';
import { type Verdict, expectedOf, verdictOf } from './verdict.ts';

export interface ResultOptions {
  run: Run;
  /** The run before this one, to compare with. */
  before?: Run | undefined;
  /** What the test expects; `undefined` where it expects nothing. */
  expected?: PluginTest['expected'];
  /** Whether the text or the payload changed since, or another run has begun. */
  staleness?: 'changed' | 'running' | undefined;
  /** Makes the result the expected one. */
  onAccept?: ((result: string) => void) | undefined;
  /** Takes the responses to the calls into a test. */
  onTake?: (() => void) | undefined;
  /** The types of the plugin's input and output, where its namespace has any. */
  schemas?: Schemas | undefined;
  /** Goes to a place in the source. */
  onJump: (line: number, column: number) => void;
}

/** The icon and the colour of a verdict. */
export const verdictIcons: Record<Verdict, Icon> = { passed: 'pass', failed: 'fail', ran: 'ran' };
export const verdictTones: Record<Verdict, string> = { passed: 'good', failed: 'bad', ran: 'calm' };

/** How a run ended: verdict, time, result or error, logs, and the difference to the run before with the same payload. */
export function resultView(options: ResultOptions): TemplateResult {
  const { run, before, staleness, onTake, onJump } = options;
  const { outcome } = run;
  const words = texts().result;
  const verdict = verdictOf(outcome, options);
  const note = { changed: words.before, running: words.earlier };
  return html`<div class="result" data-tone=${staleness ? 'stale' : verdictTones[verdict]}>
    <p class="result-head">
      ${icon(verdictIcons[verdict])}<strong>${words[verdict]}</strong
      ><span class="result-time">${formatDuration(run.took)}</span>
    </p>
    ${staleness ? html`<p class="result-stale">${note[staleness]}</p>` : nothing}
    ${
      'error' in outcome
        ? errorView(outcome.error, options)
        : html`${expectation(outcome.result, verdict, options)}${section(words.result, outcome.result)}`
    }
    ${before?.payload === run.payload ? changeView(before, run) : nothing}
    ${outcome.logs.length ? logsView(outcome.logs, onJump) : nothing} ${callsView(run.calls ?? [], onTake)}
  </div>`;
}

function errorView(
  error: { code?: string | undefined; message: string; path?: string | undefined },
  options: ResultOptions,
): TemplateResult {
  const words = texts().result;
  const { schemas, onJump } = options;
  const title = errorTitle(error.code);
  return html`<p class="result-label">${title}</p>
    ${error.path === undefined ? nothing : misfitView(error.code, error.path, schemas)}
    <div class="output trace" dir="ltr" tabindex="0" role="group" aria-label=${title}>
      <span class="verbatim">${traceLines(error.message, onJump)}</span>
    </div>
    ${expectedOf(options) === undefined ? nothing : html`<p class="result-note">${words.expectedError}</p>`}`;
}

/** The place in the input or the output that does not fit its type, and the type there. */
function misfitView(
  code: string | undefined,
  pointer: string,
  schemas: ResultOptions['schemas'],
): TemplateResult {
  const { types: words, runs } = texts();
  const isInput = code === 'invalid-input';
  const path = pathOf(pointer);
  const schema = isInput ? schemas?.input : schemas?.output;
  const parts = schema === undefined ? [] : schemasAt(schema, path);
  const [type, description] = [typeLabel(parts), descriptionOf(parts)];
  return html`<div class="misfit">
    <p class="misfit-path">
      <span>${isInput ? runs.input : runs.output}</span>
      ${path.length ? html`<code dir="ltr">${pathText(path)}</code>` : nothing}
    </p>
    ${
      type || description
        ? html`<p class="misfit-type">
            ${type ? html`<span>${words.fits}</span> <code dir="ltr">${type}</code>` : nothing}
            ${description ? html`<span dir="auto">${description}</span>` : nothing}
          </p>`
        : nothing
    }
  </div>`;
}

/** The difference to the expected result, and the button that makes the result the expected one. */
function expectation(
  result: string,
  verdict: Verdict,
  options: ResultOptions,
): TemplateResult | typeof nothing {
  const words = texts().result;
  const { onAccept } = options;
  const expected = expectedOf(options);
  const accept =
    onAccept && verdict !== 'passed'
      ? html`<div class="panel-actions">
          <button type="button" class="button accept" @click=${() => onAccept(result)}>
            ${icon('pass')}${words.accept}
          </button>
        </div>`
      : nothing;
  if (expected === undefined || verdict !== 'failed') return html`${accept}`;
  const differences = differencesOf(expected, result);
  return html`<p class="result-label">${words.notExpected}</p>
    ${
      differences
        ? jsonDifferenceView(differences)
        : html`<text-difference
            .was=${expected}
            .is=${result}
            .label=${words.differenceExpected}
          ></text-difference>`
    }
    ${accept}`;
}

function jsonDifferenceView(differences: readonly JsonDifference[]): TemplateResult {
  const words = texts().result;
  return html`<ul class="json-differences" tabindex="0" aria-label=${words.differenceExpected}>
    ${differences.map(
      ({ path, expected, actual }) =>
        html`<li>
          <p class="json-path">${path ? html`<code dir="ltr">${path}</code>` : words.whole}</p>
          <p class="json-expected">
            <span>${words.expected}</span>
            ${expected === undefined ? words.missing : html`<code dir="ltr">${expected}</code>`}
          </p>
          <p class="json-actual">
            <span>${words.actual}</span>
            ${actual === undefined ? words.missing : html`<code dir="ltr">${actual}</code>`}
          </p>
        </li>`,
    )}
  </ul>`;
}

function changeView(before: Run, run: Run): TemplateResult {
  const words = texts().result;
  const [was, is] = [comparable(before), comparable(run)];
  if (was === is) return html`<p class="result-same">${words.same}</p>`;
  return html`<p class="result-label">${words.changed}</p>
    <text-difference .was=${was} .is=${is} .label=${words.difference}></text-difference>`;
}

/** The result or error of a run, as a text to compare. Logs often hold times and differ in each run. */
const comparable = ({ outcome }: Run): string =>
  'error' in outcome ? `${outcome.error.code ?? 'error'}: ${outcome.error.message}` : outcome.result;

function section(title: string, text: string): TemplateResult {
  return html`<p class="result-label">${title}</p>
    ${
      text
        ? html`<long-text .text=${text} .label=${title}></long-text>`
        : html`<p class="result-empty">${texts().result.empty}</p>`
    }`;
}
