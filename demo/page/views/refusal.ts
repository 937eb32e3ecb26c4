import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { SignedIn } from '../../vendor/wire.ts';
import type { State } from '../state.ts';

/** Explains why another customer's plugin could not be opened. */
export function refusalView({ ident, editorError }: State, { user, tenants }: SignedIn): TemplateResult {
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
