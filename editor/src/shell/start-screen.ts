import { type TemplateResult, html } from 'lit/html.js';
import type { Language } from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';
import { ownerLine } from '../plugin/identity-view.ts';
import type { PluginTarget } from '../plugin/target.ts';
import { visibleText } from '../ui/visible-text.ts';

export interface StartScreenOptions {
  /** The new plugin. */
  target: PluginTarget;
  languages: readonly Language[];
  /** A language that was asked for and that the builder does not have. */
  unknown?: string | undefined;
  /** Whether nothing may be changed here. */
  isReadOnly: boolean;
  /** The messages to show above. */
  notices: TemplateResult;
  onChoose: (language: Language) => void;
}

/** The page for a plugin that does not exist yet, when nobody has said in which language it is to be. */
export function startScreen(options: StartScreenOptions): TemplateResult {
  const { target, languages, notices, isReadOnly, onChoose } = options;
  const { start } = texts();
  return html`<div class="start">
    ${notices}
    <main class="message">
      <div class="message-box">
        <p class="eyebrow">${start.eyebrow}</p>
        <h1><bdi>${visibleText(target.fn)}</bdi></h1>
        ${ownerLine(target.ident)}
        <p>${introduction(options)}</p>
        ${isReadOnly ? '' : languageChoices(languages, onChoose)}
      </div>
    </main>
  </div>`;
}

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

function introduction({ languages, unknown, isReadOnly }: StartScreenOptions): string {
  const { start } = texts();
  if (isReadOnly) return start.readOnly;
  if (!languages.length) return start.noLanguage;
  return unknown ? start.noTemplate(unknown) : start.choose;
}
