import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { loadSession } from '../back-end.ts';
import { currentTenant, signedIn } from '../state.ts';
import type { State } from '../state.ts';
import { inspectorView } from './inspector.ts';
import { questionView } from './question.ts';
import { sidebarView } from './sidebar.ts';
import { signInView } from './sign-in.ts';
import { stageView } from './stage.ts';

/** The whole page. */
export function appView(state: State): TemplateResult {
  const { session, failure } = state;
  if (!session) {
    return html`<main class="blank">
      <h1 class="visually-hidden">Larder</h1>
      ${
        failure
          ? html`<p role="alert">${failure}</p>
              <button class="button" @click=${loadSession}>Try again</button>`
          : html`<p role="status">Opening Larder…</p>`
      }
    </main>`;
  }
  const who = signedIn(state);
  if (!who) return html`${signInView(state)}`;
  return html`
    <div class="app" ?data-inside=${state.fn !== undefined || !currentTenant(state)}>
      ${sidebarView(state, who)}
      <main class="stage">
        ${failure ? html`<p class="failure" role="alert">${failure}</p>` : nothing} ${questionView(state)}
        ${stageView(state, who)}
      </main>
      ${inspectorView(state)}
    </div>
  `;
}
