import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { continueWithoutSaving, stay } from '../actions.ts';
import type { State } from '../state.ts';
import { isElsewhere } from '../unsaved-work.ts';
import type { Question } from '../unsaved-work.ts';

/** Says that something waits until unsaved work is saved, and lets the user choose. */
export function questionView(state: State): TemplateResult | typeof nothing {
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
