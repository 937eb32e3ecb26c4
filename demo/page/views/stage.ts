import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { LiveView, PluginEntry, SignedIn, TenantView } from '../../vendor/wire.ts';
import { go, leaveEditor, openInNewTab, reloadEditor } from '../actions.ts';
import { editorAttributes } from '../markup.ts';
import { routeTo } from '../route.ts';
import { currentTenant, isSuspended } from '../state.ts';
import type { State } from '../state.ts';
import { customersView } from './customers.ts';
import { launchView } from './launch.ts';
import { refusalView } from './refusal.ts';

/** The main part of the page: the customers, a customer's plugins, one plugin, or the editor. */
export function stageView(state: State, account: SignedIn): TemplateResult {
  const tenant = currentTenant(state);
  const { fn, launched } = state;
  const plugin = tenant?.plugins.find(({ name }) => name === fn);
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
        // The editor in a tab of its own can get its token by the address only.
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
  ></plugin-editor>`;
}

const overview = ({ ident, name, plugins }: TenantView, { data }: State) => html`
  <div class="page">
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
      ${live === undefined ? nothing : html`<span class="live">${liveLabel(live)}</span>`}
    </a>
  </li>
`;

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
