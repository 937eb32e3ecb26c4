import { html } from 'lit';
import type { TemplateResult } from 'lit';
import { chooseDelivery } from '../actions.ts';
import { deliveries } from '../delivery.ts';
import type { Delivery } from '../delivery.ts';
import type { State } from '../state.ts';

const labels: Record<Delivery, string> = {
  url: 'The token is a parameter of the frame’s address. The editor starts to load when the token is there.',
  message:
    'No address holds the token. The editor loads ahead of any plugin (preload), and is told what to open.',
};

const inMs = (time: number | undefined) => (time === undefined ? '–' : `${time} ms`);

/** Chooses how the editor gets its token, and shows how long each way took. */
export function deliveryView(state: State): TemplateResult {
  const { delivery: chosen, times } = state;
  return html`
    <div class="part delivery">
      <div class="section-bar">
        <h3 id="delivery-title">Token delivery</h3>
        <div class="segments" role="radiogroup" aria-labelledby="delivery-title">
          ${deliveries.map(
            (delivery) => html`
              <label>
                <input
                  type="radio"
                  name="delivery"
                  value=${delivery}
                  .checked=${chosen === delivery}
                  @change=${() => chooseDelivery(delivery)}
                />
                <span>${delivery}</span>
              </label>
            `,
          )}
        </div>
      </div>
      <p class="soft">${labels[chosen]}</p>
      <table>
        <caption>
          Time to a usable editor, here and now
        </caption>
        <thead>
          <tr>
            <th scope="col"><span class="visually-hidden">Delivery</span></th>
            <th scope="col">Launch</th>
            <th scope="col">Next plugin</th>
          </tr>
        </thead>
        <tbody>
          ${deliveries.map(
            (delivery) => html`
              <tr ?data-chosen=${chosen === delivery}>
                <th scope="row">${delivery}</th>
                <td data-time="${delivery}-launch">${inMs(times[delivery].launch)}</td>
                <td data-time="${delivery}-next">${inMs(times[delivery].next)}</td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}
