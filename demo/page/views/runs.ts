import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { VersionRun } from '../../vendor/wire.ts';
import { runPlugin } from '../actions.ts';
import { change, runInput } from '../state.ts';
import type { State } from '../state.ts';
import { failureView } from './failure.ts';

/** Runs the plugin by the back end with an input of the user's: the live version, or the latest ones to compare them. */
export function runsView(state: State): TemplateResult {
  const { runs } = state;
  return html`
    <section class="panel runs" aria-labelledby="runs-title">
      <div class="panel-bar">
        <h2 id="runs-title">Try it</h2>
        <p class="soft" role="status">${summary(state)}</p>
      </div>
      <form
        class="runs-form"
        @submit=${(event: SubmitEvent) => {
          event.preventDefault();
          void runPlugin((event.submitter as HTMLButtonElement | null)?.value === 'all' ? 'all' : 'live');
        }}
      >
        <label for="run-input">Sample input</label>
        <textarea
          id="run-input"
          rows=${rowsFor(runInput(state))}
          spellcheck="false"
          autocomplete="off"
          .value=${runInput(state)}
          @input=${(event: Event) =>
            change({ runs: { ...runs, input: (event.target as HTMLTextAreaElement).value } })}
        ></textarea>
        <div class="tools">
          <button class="button" id="run-live" value="live" aria-disabled=${runs.busy}>
            Run what is live
          </button>
          <button class="button" id="run-versions" value="all" aria-disabled=${runs.busy}>
            Run every version
          </button>
        </div>
      </form>
      ${runs.problem ? html`<p class="failure" role="alert">${runs.problem}</p>` : nothing}
      ${runs.result?.runs.length ? versionsTable(runs.result.runs, runs.ran ?? '', runs.ran !== runInput(state)) : nothing}
      ${runs.result?.more ? html`<p class="soft">Older versions were not run.</p>` : nothing}
    </section>
  `;
}

/** As many rows as the text has lines, from 2 to 12. */
const rowsFor = (text: string) => Math.min(12, Math.max(2, text.split('\n').length));

function summary({ runs }: State): string {
  if (runs.busy) return 'Running…';
  if (!runs.result) return 'Larder’s back end runs the plugin, with the token that only it has.';
  const { length } = runs.result.runs;
  if (length === 0) return 'Nothing is deployed yet: deploy in the editor, then run it here.';
  return length === 1 ? 'One version was run.' : `${length} versions were run, newest first.`;
}

/** @param isOther whether the input is another one than the form shows by now */
const versionsTable = (runs: readonly VersionRun[], input: string, isOther: boolean) => html`
  ${
    isOther
      ? html`<p class="soft ran">With this input:</p>
          <pre class="ran" tabindex="0">${input}</pre>`
      : nothing
  }
  <div class="runs-scroll" role="region" tabindex="0" aria-label="What each version answered">
    <table>
      <thead>
        <tr>
          <th scope="col">Version</th>
          <th scope="col">Output</th>
          <th scope="col">Time</th>
        </tr>
      </thead>
      <tbody>
        ${runs.map(
          ({ version, output, failure, took }) => html`
            <tr>
              <th scope="row">${version}</th>
              <td>
                ${failure ? failureView(failure, failure.logs) : html`<pre tabindex="0">${output}</pre>`}
              </td>
              <td class="took">${Math.round(took * 10) / 10} ms</td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  </div>
`;
