import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { CaseView, PlaceView } from '../../vendor/wire.ts';
import { showWork } from '../data.ts';
import type { State } from '../state.ts';
import { failureView } from './failure.ts';

/** What the live version does in Larder: its output for Larder's own data, as the shop and its customers see it. */
export function previewView({ work }: State, { kind, title }: PlaceView): TemplateResult {
  const { result, busy, problem } = work;
  return html`
    <section class="panel work" aria-labelledby="work-title" aria-busy=${busy}>
      <div class="panel-bar">
        <h2 id="work-title">${title}</h2>
        <p class="soft" role="status">${summary(work)}</p>
        <button class="button" id="show-work" aria-disabled=${busy} @click=${() => showWork()}>
          Run again
        </button>
      </div>
      ${problem ? html`<p class="failure" role="alert">${problem}</p>` : nothing}
      <ul class="cases ${kind}">
        ${result?.cases.map((one) => caseView(kind, one))}
      </ul>
    </section>
  `;
}

function summary({ busy, result }: State['work']): string {
  if (!result) return busy ? 'Running…' : '';
  const { live, cases } = result;
  if (live === null) return 'Nothing is deployed yet: Larder does without.';
  const failed = cases.filter(({ failure }) => failure).length;
  if (failed === 0) return `As ${live} has it, with Larder’s own data.`;
  return `${live} failed at ${failed} of ${cases.length}: there Larder does without.`;
}

const caseView = (kind: PlaceView['kind'], { what, detail, without, shown, failure }: CaseView) => html`
  <li ?data-failed=${failure !== undefined}>
    <p class="case-title"><strong>${what}</strong> <span class="soft">${detail}</span></p>
    ${kind === 'letters' ? letter(shown?.text ?? without, shown?.note) : result(kind, without, shown)}
    ${failure ? failureView(failure, failure.logs) : nothing}
  </li>
`;

const letter = (greeting: string, closing = 'Yours, Larder') => html`
  <div class="letter">
    <p>${greeting}</p>
    <p class="lines" aria-hidden="true"></p>
    <p>${closing}</p>
  </div>
`;

const result = (kind: PlaceView['kind'], without: string, shown: CaseView['shown']) => html`
  <p class="case-result">
    ${
      shown && shown.text !== without && kind === 'basket'
        ? html`<s><span class="visually-hidden">List price </span>${without}</s>`
        : nothing
    }
    <strong>${shown?.text ?? without}</strong>
    ${shown?.note ? html`<span class="note">${shown.note}</span>` : nothing}
  </p>
`;
