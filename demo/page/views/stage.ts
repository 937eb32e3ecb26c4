import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { PluginEntry, Session, TenantView } from '../../vendor/wire.ts';
import { go, leaveEditor, openInNewTab, reloadEditor } from '../actions.ts';
import { editorAttributes } from '../markup.ts';
import { routeTo } from '../route.ts';
import { currentTenant } from '../state.ts';
import type { State } from '../state.ts';
import { launchView } from './launch.ts';
import { refusalView } from './refusal.ts';
import { runsView } from './runs.ts';

/** What the app is about: a customer's plugins, one of them, or the editor. */
export function stageView(state: State, session: Session): TemplateResult {
  const tenant = currentTenant(state);
  const { fn, launched } = state;
  const plugin = tenant?.plugins.find(({ name }) => name === fn);
  const own = tenant !== undefined;
  return html`
    ${launched ? editorBar(state, session) : nothing}
    ${fn !== undefined ? launchView(state, plugin, own) : tenant ? overview(tenant) : lost(session)}
    <div class="editor-place" ?hidden=${!launched} ?data-refused=${!own}>
      ${editorView(state)} ${own ? nothing : refusalView(state, session)}
    </div>
    ${launched && own ? runsView(state) : nothing}
  `;
}

const stateWords = { idle: 'Closed', loading: 'Opening', ready: 'Open', error: 'Not opened' } as const;

const editorBar = ({ ident, fn, editorState, delivery }: State, { tenants, stranger }: Session) => html`
  <div class="editor-bar">
    <div class="editor-title">
      <h1 tabindex="-1">${fn}</h1>
      <span class="soft">
        ${[...tenants, ...(stranger ? [stranger] : [])].find((tenant) => tenant.ident === ident)?.name ?? ident}
      </span>
      <span class="badge" data-state=${editorState}>${stateWords[editorState]}</span>
    </div>
    <div class="tools">
      <button class="button" @click=${reloadEditor}>Reload</button>
      ${
        // A tab takes its token by address alone.
        delivery === 'url'
          ? html`<button class="button" @click=${openInNewTab}>Open in new tab</button>`
          : nothing
      }
      <button class="button" id="leave-editor" @click=${leaveEditor}>Close</button>
    </div>
  </div>
`;

/** Always in the page, so that its state outlasts what is shown around it; idle until there is a plugin. */
function editorView(state: State) {
  const attributes = editorAttributes(state);
  return html`<plugin-editor
    id=${attributes.id}
    editor-url=${attributes['editor-url'] ?? nothing}
    builder=${attributes.builder ?? nothing}
    ident=${attributes.ident ?? nothing}
    fn=${attributes.fn ?? nothing}
    template=${attributes.template}
    token-endpoint=${attributes['token-endpoint']}
    token-delivery=${attributes['token-delivery'] ?? nothing}
    ?preload=${attributes.preload !== undefined}
  ></plugin-editor>`;
}

const overview = ({ ident, name, plugins }: TenantView) => html`
  <div class="page">
    <p class="kicker">${name}</p>
    <h1 tabindex="-1">Plugins</h1>
    <p class="lead">
      Small programs of your own that Larder runs when something happens. Choose one to write it.
    </p>
    <ul class="cards">
      ${plugins.map((plugin) => cardView(ident, plugin))}
    </ul>
  </div>
`;

const cardView = (ident: string, { name, runs }: PluginEntry) => html`
  <li>
    <a class="card" href=${routeTo(ident, name)}>
      <strong>${name}</strong>
      <span class="soft">${runs}</span>
    </a>
  </li>
`;

const lost = ({ tenants }: Session) => html`
  <div class="page">
    <h1 tabindex="-1">Not one of your tenants</h1>
    <p class="lead">The address names a tenant that you do not work for.</p>
    <button class="button" @click=${() => tenants[0] && go(tenants[0].ident)}>To your plugins</button>
  </div>
`;
