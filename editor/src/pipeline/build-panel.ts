import { type TemplateResult, html, nothing } from 'lit/html.js';
import { keyed } from 'lit/directives/keyed.js';
import type { Problem } from '../code/problems.ts';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { icon } from '../ui/icon.ts';
import { stopButton } from '../ui/start-button.ts';
import { type Work, buildLabel } from './work.ts';

export interface BuildPanelOptions {
  work: Work;
  problems: readonly Problem[];
  /** The log of the last build. */
  log: string;
  onJump: (problem: Problem) => void;
  /** Asks the assistant to explain a problem, where there is one. */
  onExplain?: ((problem: Problem) => void) | undefined;
  onStop: () => void;
}

/** The problems in the text, each a button that goes to its place, and the log of the last build. */
export function buildPanel(options: BuildPanelOptions): TemplateResult {
  const { work, problems, log, onStop } = options;
  const words = texts().problems;
  return html`<div class="build">
    <h2>${words.title}</h2>
    <p class="panel-empty" ?hidden=${problems.length > 0}>${words.none}</p>
    ${
      problems.length
        ? html`<ul class="problems" aria-label=${words.title}>
            ${problems.map((problem) => problemView(problem, options))}
          </ul>`
        : nothing
    }
    <h2>${words.log}</h2>
    <div class="panel-state">
      <p class="panel-empty" role="status">${buildLabel(work)}</p>
      ${work.build.kind === 'building' ? stopButton(onStop) : nothing}
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

function problemView(problem: Problem, { onJump, onExplain }: BuildPanelOptions): TemplateResult {
  const { line, column, message, severity, finder } = problem;
  const { problems: words, assist } = texts();
  const found = finder === 'build' ? words.byBuild : words.byCheck;
  return html`<li>
    <button type="button" class="problem ${severity}" @click=${() => onJump(problem)}>
      ${icon(severity === 'error' ? 'fail' : 'warning')}<span class="visually-hidden"
        >${words[severity]}: </span
      ><span class="problem-text">${message}</span
      ><span class="problem-place">${words.place(formatNumber(line), formatNumber(column), found)}</span>
    </button>
    ${
      onExplain
        ? html`<button
            type="button"
            class="link problem-explain"
            aria-label="${assist.explainProblem}: ${message}"
            @click=${() => onExplain(problem)}
          >
            ${assist.explainProblem}
          </button>`
        : nothing
    }
  </li>`;
}
