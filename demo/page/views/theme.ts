import { html } from 'lit';
import type { TemplateResult } from 'lit';
import { change } from '../state.ts';
import type { State } from '../state.ts';
import { saveTheme, themes } from '../theme.ts';
import type { Theme } from '../theme.ts';

const labels: Record<Theme, string> = { auto: 'Auto', light: 'Light', dark: 'Dark' };

/** Chooses between the system's colours, light and dark. */
export const themeView = (state: State): TemplateResult => html`
  <fieldset class="theme segments">
    <legend class="visually-hidden">Colours</legend>
    ${themes.map(
      (theme) => html`
        <label>
          <input
            type="radio"
            name="theme"
            .checked=${state.theme === theme}
            @change=${() => {
              saveTheme(theme);
              change({ theme });
            }}
          />
          <span>${labels[theme]}</span>
        </label>
      `,
    )}
  </fieldset>
`;
