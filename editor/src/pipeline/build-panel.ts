import { type TemplateResult, html, nothing } from 'lit/html.js';
import { keyed } from 'lit/directives/keyed.js';
import type { CodeEditor } from '../code/code-editor.ts';
import type { Problem } from '../code/problems.ts';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { icon } from '../ui/icon.ts';
import { stopButton } from '../ui/start-button.ts';
import type { Pipeline } from './pipeline.ts';
import { type Work, buildLabel } from './work.ts';

/** The open plugin, as far as the panel shows it. */
export interface BuildHost {
  readonly document: { readonly editor: Pick<CodeEditor, 'problems' | 'goTo'> };
  readonly actions: { readonly pipeline: Pick<Pipeline, 'log' | 'stop'> };
  readonly assistance: { readonly isOffered: boolean; explain: (problem: Problem) => Promise<void> };
}

/** The problems in the text, each a button that goes to its place, and the log of the last build. */
export function buildPanel(host: BuildHost, work: Work): TemplateResult {
  const { problems } = host.document.editor;
  const { pipeline } = host.actions;
  const { log } = pipeline;
  const words = texts().problems;
  return html`<div class="build">
    <h2>${words.title}</h2>
    <p class="panel-empty" ?hidden=${problems.length > 0}>${words.none}</p>
    ${
      problems.length
        ? html`<ul class="problems" aria-label=${words.title}>
            ${problems.map((problem) => problemView(problem, host))}
          </ul>`
        : nothing
    }
    <h2>${words.log}</h2>
    <div class="panel-state">
      <p class="panel-empty" role="status">${buildLabel(work)}</p>
      ${work.build.kind === 'building' ? stopButton(() => pipeline.stop()) : nothing}
    </div>
    ${keyed(
      'log',
      html`<pre
        class="output log"
        dir="ltr"
        tabindex="0"
        role="log"
        aria-label=${words.log}
        ?hidden=${!log}
        .textContent=${log}
      ></pre>`,
    )}
  </div>`;
}

function problemView(problem: Problem, { document, assistance }: BuildHost): TemplateResult {
  const { line, column, message, severity, finder } = problem;
  const { problems: words, assist } = texts();
  const found = finder === 'build' ? words.byBuild : words.byCheck;
  return html`<li>
    <button type="button" class="problem ${severity}" @click=${() => document.editor.goTo(line, column)}>
      ${icon(severity === 'error' ? 'fail' : 'warning')}<span class="visually-hidden"
        >${words[severity]}: </span
      ><span class="problem-text">${message}</span
      ><span class="problem-place">${words.place(formatNumber(line), formatNumber(column), found)}</span>
    </button>
    ${
      assistance.isOffered
        ? html`<button
            type="button"
            class="link problem-explain"
            aria-label="${assist.explainProblem}: ${message}"
            @click=${() => void assistance.explain(problem)}
          >
            ${assist.explainProblem}
          </button>`
        : nothing
    }
  </li>`;
}
