import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { loadAccount } from '../back-end.ts';
import { currentTenant, signedInAccount } from '../state.ts';
import type { State } from '../state.ts';
import { inspectorView } from './inspector.ts';
import { questionView } from './question.ts';
import { sidebarView } from './sidebar.ts';
import { signInView } from './sign-in.ts';
import { stageView } from './stage.ts';

/** The whole page. */
export function appView(state: State): TemplateResult {
  const { account, failure } = state;
  if (!account) {
    return html`<main class="blank">
      <h1 class="visually-hidden">Larder</h1>
      ${
        failure
          ? html`<p role="alert">${failure}</p>
              <button class="button" @click=${loadAccount}>Try again</button>`
          : html`<p role="status">Opening Larder…</p>`
      }
    </main>`;
  }
  const signedIn = signedInAccount(state);
  if (!signedIn) return html`${signInView(state)}`;
  return html`
    <div class="app" ?data-inside=${state.fn !== undefined || !currentTenant(state)}>
      ${sidebarView(state, signedIn)}
      <main class="stage">
        ${failure ? html`<p class="failure" role="alert">${failure}</p>` : nothing} ${questionView(state)}
        ${stageView(state, signedIn)}
      </main>
      ${inspectorView(state)}
    </div>
  `;
}
