import { html } from 'lit';
import type { TemplateResult } from 'lit';
import { lookNames, saveLook } from '../look.ts';
import type { Look } from '../look.ts';
import { change } from '../state.ts';
import type { State } from '../state.ts';

const labels: Record<Look, string> = { larder: 'Larder', slate: 'Slate', sorbet: 'Sorbet' };

/** Chooses how the two elements look: their custom properties and parts, which the HTML to copy has. */
export const lookView = (state: State): TemplateResult => html`
  <div class="part look">
    <div class="section-bar">
      <h3 id="look-title">Look</h3>
      <div class="segments" role="radiogroup" aria-labelledby="look-title">
        ${lookNames.map(
          (look) => html`
            <label>
              <input
                type="radio"
                name="look"
                value=${look}
                .checked=${state.look === look}
                @change=${() => {
                  saveLook(look);
                  change({ look });
                }}
              />
              <span>${labels[look]}</span>
            </label>
          `,
        )}
      </div>
    </div>
    <p class="soft">
      Set by <code>--plugin-editor-*</code> and <code>::part()</code> alone; the page’s own colours follow.
    </p>
  </div>
`;
