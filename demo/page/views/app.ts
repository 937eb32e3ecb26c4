import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { continueWithoutSaving, stay } from '../actions.ts';
import { loadAccount } from '../back-end.ts';
import { currentTenant, signedInAccount } from '../state.ts';
import type { State } from '../state.ts';
import { isElsewhere } from '../unsaved-work.ts';
import type { Question } from '../unsaved-work.ts';
import { inspectorView } from './inspector.ts';
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
    <div
      class="app"
      data-drawer=${state.drawer}
      ?data-inside=${state.fn !== undefined || !currentTenant(state)}
    >
      ${sidebarView(state, signedIn)}
      <main class="stage">
        ${failure ? html`<p class="failure" role="alert">${failure}</p>` : nothing} ${questionView(state)}
        ${stageView(state, signedIn)}
      </main>
      ${inspectorView(state)}
    </div>
  `;
}

/** Says that something waits until unsaved work is saved, and lets the user choose. */
function questionView(state: State): TemplateResult | typeof nothing {
  const { question } = state;
  if (!question) return nothing;
  return html`
    <div class="question" role="alert">
      <p>
        <strong>${question.fn}</strong> has changes that are not saved yet. ${consequence(state, question)}
      </p>
      <div class="tools">
        ${
          isElsewhere(state, question)
            ? html`<button class="button" id="stay" @click=${stay}>Stay with ${question.fn}</button>`
            : nothing
        }
        <button class="button" id="go-on" @click=${continueWithoutSaving}>Go on without waiting</button>
      </div>
    </div>
  `;
}

function consequence({ ident, fn, launched }: State, { back }: Question): string {
  if (!launched) return 'The editor closes as soon as they are.';
  if (ident === back.ident && fn === back.fn) return 'The editor is loaded anew as soon as they are.';
  return `${fn} opens as soon as they are.`;
}
