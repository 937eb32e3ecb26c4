import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { assistant } from '../assistant.ts';
import type { LiveView, PluginEntry, SignedIn, TenantView } from '../../vendor/wire.ts';
import { go, leaveEditor, openInNewTab, reloadEditor } from '../actions.ts';
import { editorAttributes } from '../markup.ts';
import { routeTo } from '../route.ts';
import { currentTenant, isSuspended, shownPlugin } from '../state.ts';
import type { State } from '../state.ts';
import { customersView } from './customers.ts';
import { launchView } from './launch.ts';
import { timeView } from './versions.ts';

/** The main part of the page: the customers, a customer's plugins, one plugin, or the editor. */
export function stageView(state: State, account: SignedIn): TemplateResult {
  const tenant = currentTenant(state);
  const { fn, launched } = state;
  const plugin = shownPlugin(state);
  const own = tenant !== undefined;
  const former = account.former.find(({ ident }) => state.ident === undefined || ident === state.ident);
  const placeView = () => {
    if (account.user.isStaff) return customersView(state);
    if (!own && former) return formerCustomerView(former.name);
    if (fn !== undefined) return launchView(state, plugin, own);
    return tenant ? overview(tenant, state) : unknownTenantView(account);
  };
  return html`
    ${state.data.problem ? html`<p class="failure" role="alert">${state.data.problem}</p>` : nothing}
    ${tenant && isSuspended(state) ? suspendedView(tenant.name) : nothing}
    ${launched ? editorBar(state, account) : nothing} ${placeView()}
    <div class="editor-place" ?hidden=${!launched} ?data-refused=${!own && !former}>
      ${editorView(state)} ${own || former ? nothing : refusalView(state, account)}
    </div>
  `;
}

const stateLabels = { idle: 'Closed', loading: 'Opening', ready: 'Open', error: 'Not opened' } as const;

const editorBar = (
  { ident, fn, editorState, delivery, data }: State,
  { tenants, stranger }: SignedIn,
) => html`
  <div class="editor-bar">
    <div class="editor-title">
      <h1 tabindex="-1">${fn}</h1>
      <span class="soft">
        ${[...tenants, ...(stranger ? [stranger] : [])].find((tenant) => tenant.ident === ident)?.name ?? ident}
      </span>
      <span class="badge" data-state=${editorState}>${stateLabels[editorState]}</span>
      ${data.details?.live ? html`<span class="soft live">${data.details.live} is live</span>` : nothing}
    </div>
    <div class="tools">
      <button class="button" @click=${reloadEditor}>Reload</button>
      ${
        // In another tab the editor can get its token only by the address.
        delivery === 'url'
          ? html`<button class="button" @click=${openInNewTab}>Open in new tab</button>`
          : nothing
      }
      <button class="button" id="leave-editor" @click=${leaveEditor}>Close</button>
    </div>
  </div>
`;

/** The element is always in the page, so that it keeps its state whatever is shown around it. Without a plugin it is idle. */
function editorView(state: State) {
  const attributes = editorAttributes(state);
  return html`<plugin-editor
    id=${attributes.id}
    editor-url=${attributes['editor-url'] ?? nothing}
    builder=${attributes.builder ?? nothing}
    ident=${attributes.ident ?? nothing}
    namespace=${attributes.namespace ?? nothing}
    fn=${attributes.fn ?? nothing}
    template=${attributes.template}
    token-endpoint=${attributes['token-endpoint']}
    token-delivery=${attributes['token-delivery'] ?? nothing}
    ?preload=${attributes.preload !== undefined}
    .assistant=${assistant}
  ></plugin-editor>`;
}

const overview = ({ ident, name, plugins }: TenantView, { data }: State) => html`
  <div class="page wide">
    <p class="kicker">${name}</p>
    <h1 tabindex="-1">Plugins</h1>
    <p class="lead">
      Small programs of your own that Larder runs when something happens. Choose one to write it, and to see
      its versions and runs.
    </p>
    <ul class="cards">
      ${plugins.map((plugin) =>
        cardView(
          ident,
          plugin,
          data.overview && (data.overview.plugins.find(({ name: n }) => n === plugin.name) ?? null),
        ),
      )}
    </ul>
  </div>
`;

/** @param live `null`: the plugin was never saved; `undefined`: that is not known */
const cardView = (ident: string, { name, runs }: PluginEntry, live: LiveView | null | undefined) => html`
  <li>
    <a class="card" href=${routeTo(ident, name)}>
      <strong>${name}</strong>
      <span class="soft">${runs}</span>
      ${
        live === undefined
          ? nothing
          : html`<span class="facts">
              ${live ? html`<span class="badge">${languages[live.lang] ?? live.lang}</span>` : nothing}
              <span class="live">${liveLabel(live)}</span>
            </span>`
      }
      ${live?.lastFailure ? failureLabel(live.lastFailure) : nothing}
    </a>
  </li>
`;

const languages: Readonly<Record<string, string>> = {
  javascript: 'JavaScript',
  typescript: 'TypeScript',
  assemblyscript: 'AssemblyScript',
  python: 'Python',
};

const failureLabel = ({ at, code }: NonNullable<LiveView['lastFailure']>) =>
  html`<span class="last-failure"
    >Last failure: ${timeView(at)}, <code class="code-word">${code}</code></span
  >`;

function liveLabel(plugin: LiveView | null): string {
  if (!plugin || plugin.live === null) return 'Not deployed yet';
  const { live, latest } = plugin;
  return live === latest ? `${live} is live` : `${live} is live, ${latest} is newer`;
}

const suspendedView = (name: string) => html`
  <div class="notice suspended" role="status">
    <p>
      <strong>${name} is suspended.</strong> Its plugins are kept, with all their versions. Until Larder
      resumes it, they cannot be opened and do not run.
    </p>
  </div>
`;

const formerCustomerView = (name: string) => html`
  <div class="page gone">
    <p class="kicker">${name}</p>
    <h1 tabindex="-1">No longer a customer</h1>
    <p class="lead">
      ${name} was deleted, with its plugins, their versions and the records of their runs. There is nothing
      left to open.
    </p>
  </div>
`;

const unknownTenantView = ({ tenants }: SignedIn) => html`
  <div class="page">
    <h1 tabindex="-1">Not one of your tenants</h1>
    <p class="lead">The address names a tenant that you do not work for.</p>
    <button class="button" @click=${() => tenants[0] && go(tenants[0].ident)}>To your plugins</button>
  </div>
`;

/** Explains why another customer's plugin could not be opened. */
function refusalView({ ident, editorError }: State, { user, tenants }: SignedIn): TemplateResult {
  const refused = editorError?.code === 'token-unauthorized';
  return html`
    <section class="refusal" aria-labelledby="refusal-title">
      <h2 id="refusal-title">What stands in the way</h2>
      <ol>
        <li>The element asked <code>/plugins/editor-token</code> for a token for <code>${ident}</code>.</li>
        <li>
          The server knows ${user.name} by a signed cookie. Its <code>authorize</code> names what is theirs:
          ${tenants.map((tenant, index) => html`${index > 0 ? ', ' : nothing}<code>${tenant.ident}</code>`)}.
        </li>
        <li>
          ${
            refused
              ? html`The two do not match: <strong>${editorError.status}</strong>,
                  <code>${editorError.code}</code>. No token was made, so there is nothing to open.`
              : 'The two do not match, so the answer is 403.'
          }
        </li>
      </ol>
      <p class="soft">Nothing in the page decides this, so nothing done to the page can change it.</p>
    </section>
  `;
}
