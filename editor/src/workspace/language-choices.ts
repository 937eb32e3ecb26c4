import { type TemplateResult, html } from 'lit/html.js';
import type { Language } from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';

/** A list of languages to choose from. */
export const languageChoices = (
  languages: readonly Language[],
  onChoose: (language: Language) => void,
): TemplateResult =>
  html`<ul class="choices" aria-label=${texts().start.languages}>
    ${languages.map(
      (language) =>
        html`<li>
          <button type="button" class="choice" @click=${() => onChoose(language)}>
            <span class="choice-short" aria-hidden="true">${language.short}</span
            ><span class="choice-name">${language.pretty}</span>
          </button>
        </li>`,
    )}
  </ul>`;
