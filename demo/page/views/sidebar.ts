import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { SignedIn, TenantView } from '../../vendor/wire.ts';
import { addPlugin, go, signOut } from '../actions.ts';
import { choose } from '../preferences.ts';
import { routeTo } from '../route.ts';
import { change, currentTenant } from '../state.ts';
import type { State } from '../state.ts';
import { brandView } from './brand.ts';
import { themeView } from './choices.ts';
import { initials } from './sign-in.ts';

/** The app's own navigation: the customer, its plugins, and the user. */
export function sidebarView(state: State, account: SignedIn): TemplateResult {
  const tenant = currentTenant(state) ?? account.tenants[0];
  return html`
    <header class="sidebar">
      <div class="bar">${brandView()} ${accountView(state, account)}</div>
      ${tenant ? html`<div class="places">${tenantView(account, tenant)} ${pluginsView(state, account, tenant)}</div>` : nothing}
      ${strangerView(state, account)}
    </header>
  `;
}

const accountView = (state: State, { user }: SignedIn) => html`
  <div class="account">
    <span class="avatar" aria-hidden="true">${initials(user.name)}</span>
    <span class="account-name">${user.name}</span>
    <button id="sign-out" class="quiet" @click=${signOut}>Sign out</button>
    ${themeView(state)}
    <button
      id="developers"
      class="quiet"
      aria-expanded=${state.drawer === 'open'}
      aria-controls="inspector"
      @click=${() => choose({ drawer: state.drawer === 'open' ? 'closed' : 'open' })}
    >
      For developers
    </button>
  </div>
`;

const tenantView = ({ tenants }: SignedIn, current: TenantView) => html`
  <label class="tenant">
    <span>Tenant</span>
    <select name="tenant" @change=${(event: Event) => go((event.target as HTMLSelectElement).value)}>
      ${tenants.map(
        ({ ident, name }) =>
          html`<option value=${ident} .selected=${ident === current.ident}>${name}</option>`,
      )}
    </select>
  </label>
`;

const pluginsView = (state: State, { user }: SignedIn, { ident, plugins }: TenantView) => html`
  <nav aria-labelledby="plugins-title">
    <h2 id="plugins-title"><a href=${routeTo(ident)}>Plugins</a></h2>
    <ul>
      ${plugins.map(
        ({ name }) => html`
          <li>
            <a
              class="plugin-link"
              href=${routeTo(ident, name)}
              aria-current=${state.fn === name && currentTenant(state)?.ident === ident ? 'page' : nothing}
              >${name}</a
            >
          </li>
        `,
      )}
    </ul>
  </nav>
  ${user.mayDeploy ? newPluginView(state, ident) : nothing}
`;

const newPluginView = (state: State, ident: string) => html`
  <form
    class="new-plugin"
    @submit=${(event: SubmitEvent) => {
      event.preventDefault();
      void addPlugin(ident, event.target as HTMLFormElement);
    }}
  >
    <label for="new-plugin-name">New plugin</label>
    <div class="row">
      <input
        id="new-plugin-name"
        name="name"
        required
        maxlength="40"
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
        placeholder="weigh-basket"
        aria-invalid=${state.nameProblem ? 'true' : nothing}
        aria-describedby=${state.nameProblem ? 'name-problem' : nothing}
        @input=${() => state.nameProblem && change({ nameProblem: undefined })}
      />
      <button>Add</button>
    </div>
    ${state.nameProblem ? html`<p id="name-problem" class="problem" role="alert">${state.nameProblem}</p>` : nothing}
  </form>
`;

/** A button that tries to open another customer's plugin, to show that the back end refuses it. */
const strangerView = (state: State, { stranger }: SignedIn) =>
  stranger
    ? html`
        <div class="stranger">
          <button
            id="try-stranger"
            class="quiet"
            aria-current=${state.ident === stranger.ident ? 'page' : nothing}
            @click=${() => go(stranger.ident, stranger.fn, true)}
          >
            Try to open another tenant’s plugin
          </button>
          <p>${stranger.name} is not one of yours. The server must say no.</p>
        </div>
      `
    : nothing;
