import { html } from 'lit';
import type { TemplateResult } from 'lit';
import { chooseDelivery } from '../actions.ts';
import { choose, preferences } from '../preferences.ts';
import type { Delivery, Preferences } from '../preferences.ts';
import type { State } from '../state.ts';

/** A row of radio buttons for one of the preferences. */
const segments = <Name extends keyof Preferences>(
  name: Name,
  chosen: Preferences[Name],
  labels: Record<Preferences[Name], string>,
  onChoose: (value: Preferences[Name]) => void,
) =>
  preferences[name].map(
    (value) => html`
      <label>
        <input
          type="radio"
          name=${name}
          value=${value}
          .checked=${chosen === value}
          @change=${() => onChoose(value)}
        />
        <span>${labels[value]}</span>
      </label>
    `,
  );

/** Chooses between the system's colours, light and dark. */
export const themeView = ({ theme }: State): TemplateResult => html`
  <fieldset class="theme segments">
    <legend class="visually-hidden">Colours</legend>
    ${segments('theme', theme, { auto: 'Auto', light: 'Light', dark: 'Dark' }, (value) => choose({ theme: value }))}
  </fieldset>
`;

/** Chooses how the two elements look: their custom properties and parts, which the HTML to copy has. */
export const lookView = ({ look }: State): TemplateResult => html`
  <div class="part look">
    <div class="section-bar">
      <h3 id="look-title">Look</h3>
      <div class="segments" role="radiogroup" aria-labelledby="look-title">
        ${segments('look', look, { larder: 'Larder', slate: 'Slate', sorbet: 'Sorbet' }, (value) => choose({ look: value }))}
      </div>
    </div>
    <p class="soft">
      Set by <code>--plugin-editor-*</code> and <code>::part()</code> alone; the page’s own colours follow.
    </p>
  </div>
`;

const deliveries: Record<Delivery, string> = {
  url: 'The token is a parameter of the frame’s address. The editor starts to load when the token is there.',
  message:
    'No address holds the token. The editor loads ahead of any plugin (preload), and is told what to open.',
};

const inMs = (time: number | undefined) => (time === undefined ? '–' : `${time} ms`);

/** Chooses how the editor gets its token, and shows how long each way took. */
export const deliveryView = ({ delivery: chosen, times }: State): TemplateResult => html`
  <div class="part delivery">
    <div class="section-bar">
      <h3 id="delivery-title">Token delivery</h3>
      <div class="segments" role="radiogroup" aria-labelledby="delivery-title">
        ${segments('delivery', chosen, { message: 'message', url: 'url' }, (value) => void chooseDelivery(value))}
      </div>
    </div>
    <p class="soft">${deliveries[chosen]}</p>
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
        ${preferences.delivery.map(
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
