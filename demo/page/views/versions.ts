import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { PluginDetails, RolloutView, RunView, VersionView } from '../../vendor/wire.ts';
import { loadData, setLive } from '../data.ts';
import { signedInAccount } from '../state.ts';
import type { State } from '../state.ts';
import { failureView, logsView } from './failure.ts';

/** The versions of a plugin, which of them is live, and its latest runs. */
export function versionsView(state: State): TemplateResult | typeof nothing {
  const { details } = state.data;
  if (!details) return nothing;
  const mayDeploy = signedInAccount(state)?.user.mayDeploy ?? false;
  return html`
    <section class="panel versions" aria-labelledby="versions-title">
      <div class="panel-bar">
        <h2 id="versions-title">Versions</h2>
        <p class="soft" role="status">${liveLabel(details)}</p>
        ${
          details.pinned && mayDeploy
            ? html`<button class="button" id="newest-again" @click=${() => setLive(null)}>
                Let the newest be live
              </button>`
            : nothing
        }
      </div>
      ${details.rollout ? rolloutView(details.rollout) : nothing}
      ${
        details.versions.length === 0
          ? nothing
          : html`<ul class="entries">
              ${details.versions.map((version) => versionView(version, mayDeploy))}
            </ul>`
      }
      ${details.more ? html`<p class="soft">There are older versions.</p>` : nothing}
    </section>
    ${details.versions.length === 0 ? nothing : recentRuns(details.runs)}
  `;
}

function liveLabel({ live, pinned, rollout }: PluginDetails): string | TemplateResult {
  if (live === null) return 'Nothing is deployed yet: nothing runs.';
  if (!pinned) return `${live} is live: the newest, as each one will be that is deployed.`;
  const by = pinned.by ? ` by ${pinned.by}` : '';
  const others = rollout ? '' : ' Another version runs only once it is made live.';
  return html`${live} is live, chosen${by}, ${timeView(pinned.at)}.${others}`;
}

const rolloutView = ({ version, percent, live, ...candidate }: RolloutView) => {
  const side = ({ runs, failures }: { runs: number; failures: number }) =>
    runs === 0 ? 'no runs yet' : `${failures} of ${runs} runs failed`;
  return html`<p class="rollout">
    <strong class="code-word">${version}</strong> gets ${percent} % of the runs: ${side(candidate)}.
    <strong class="code-word">${live.version}</strong> gets the others: ${side(live)}.
  </p>`;
};

const versionView = ({ version, at, by, message, live }: VersionView, mayDeploy: boolean) => html`
  <li data-version=${version} ?data-live=${live}>
    <div class="entry-bar">
      <strong class="code-word">${version}</strong>
      ${live ? html`<span class="badge" data-state="ready">Live</span>` : nothing}
      <span class="soft">${by ? html`${by}, ` : nothing}${timeView(at)}</span>
      ${
        mayDeploy && !live
          ? html`<button class="button" data-make-live @click=${() => setLive(version)}>
              Make live<span class="visually-hidden"> ${version}</span>
            </button>`
          : nothing
      }
    </div>
    ${message ? html`<p class="message">${message}</p>` : nothing}
  </li>
`;

const recentRuns = (runs: readonly RunView[]) => html`
  <section class="panel recent" aria-labelledby="recent-title">
    <div class="panel-bar">
      <h2 id="recent-title">Recent runs</h2>
      ${runs.length === 0 ? html`<p class="soft">None yet.</p>` : nothing}
      <button class="button" id="refresh" @click=${() => loadData()}>Refresh</button>
    </div>
    <ul class="entries">
      ${runs.map(
        ({ version, at, took, failure, logs }) => html`
          <li ?data-failed=${failure !== undefined}>
            <div class="entry-bar">
              <strong class="code-word">${version}</strong>
              <span class="badge" data-state=${failure ? 'error' : 'ready'}>
                ${failure ? 'Failed' : 'Ran'}
              </span>
              <span class="soft"
                >${timeView(at)}, <span class="took">${Math.round(took * 10) / 10} ms</span></span
              >
            </div>
            ${failure ? failureView(failure, logs) : logsView(logs)}
          </li>
        `,
      )}
    </ul>
  </section>
`;

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function timeView(at: string): TemplateResult {
  const date = new Date(at);
  return html`<time datetime=${at}>${Number.isNaN(date.getTime()) ? at : format.format(date)}</time>`;
}
