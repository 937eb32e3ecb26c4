import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { SignedOut } from '../../vendor/wire.ts';
import { signIn } from '../back-end.ts';
import type { State } from '../state.ts';
import { brandView, shelfView } from './brand.ts';
import { themeView } from './choices.ts';

/** The page for signing in: the users to choose from. */
export function signInView(state: State): TemplateResult {
  const { users } = state.account as SignedOut;
  return html`
    <div class="welcome">
      <header class="welcome-cover">
        ${brandView()}
        <p class="tagline">Orders, prices and stock, for people who make food.</p>
        ${shelfView()}
      </header>
      <main class="welcome-main">
        <h1 tabindex="-1">Who is working today?</h1>
        <p class="soft">
          Larder is a made-up app. Its customers shape it with plugins that they write themselves, in an
          editor that comes from another origin.
        </p>
        ${state.failure ? html`<p class="failure" role="alert">${state.failure}</p>` : nothing}
        <ul class="people">
          ${users.map(
            ({ id, name, role, tenants }) => html`
              <li>
                <button class="person" data-user=${id} @click=${() => signIn(id)}>
                  <span class="avatar" aria-hidden="true">${initials(name)}</span>
                  <span class="person-text">
                    <strong>${name}</strong>
                    <span class="soft">${role}</span>
                    <span class="chips"
                      >${tenants.map((tenant) => html`<span class="chip">${tenant}</span>`)}</span
                    >
                  </span>
                  <span class="go arrow" aria-hidden="true">→</span>
                </button>
              </li>
            `,
          )}
        </ul>
        ${themeView(state)}
      </main>
    </div>
  `;
}

export const initials = (name: string): string =>
  name
    .split(' ')
    .map((part) => part.charAt(0))
    .join('');
