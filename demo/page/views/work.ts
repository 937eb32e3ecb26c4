import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { CaseView, PlaceView } from '../../vendor/wire.ts';
import { showWork } from '../actions.ts';
import type { State } from '../state.ts';
import { failureView } from './failure.ts';

/** What the live version does in Larder: it is run with Larder's own data, and the output is shown as a shop's customer sees it. */
export function workView({ work }: State, view: PlaceView): TemplateResult {
  return html`
    <section class="panel work" aria-labelledby="work-title">
      <div class="panel-bar">
        <h2 id="work-title">${view.title}</h2>
        <p class="soft" role="status">${summary(work)}</p>
        <button class="button" id="show-work" aria-disabled=${work.busy} @click=${() => showWork()}>
          ${work.result ? 'Look again' : 'Look'}
        </button>
      </div>
      ${work.problem ? html`<p class="failure" role="alert">${work.problem}</p>` : nothing}
      ${work.result?.cases.length ? table(work.result.cases, view) : nothing}
    </section>
  `;
}

function summary({ busy, result }: State['work']): string {
  if (busy) return 'Running…';
  if (!result) return 'What Larder itself makes of the plugin, with its own data.';
  if (result.cases.length === 0) return 'Nothing is deployed yet: Larder does without.';
  const failed = result.cases.filter(({ failure }) => failure).length;
  if (failed === 0) return 'The plugin answered each of them.';
  return `The plugin failed at ${failed} of ${result.cases.length}: there Larder does without.`;
}

const table = (cases: readonly CaseView[], view: PlaceView) => html`
  <div class="runs-scroll" role="region" tabindex="0" aria-label="What Larder makes of it">
    <table>
      <thead>
        <tr>
          <th scope="col">${view.what}</th>
          <th scope="col">${view.without}</th>
          <th scope="col">${view.with}</th>
        </tr>
      </thead>
      <tbody>
        ${cases.map(
          ({ what, without, shown, failure }) => html`
            <tr ?data-failed=${failure !== undefined}>
              <th scope="row">${what}</th>
              <td class="without">${without}</td>
              <td>
                ${shown ? html`<strong>${shown.text}</strong>` : html`<span>${without}</span>`}
                ${shown?.note ? html`<span class="soft note">${shown.note}</span>` : nothing}
                ${failure ? failureView(failure, failure.logs) : nothing}
              </td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  </div>
`;
