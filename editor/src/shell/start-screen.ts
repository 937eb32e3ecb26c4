import { type TemplateResult, html } from 'lit/html.js';
import type { Language } from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';
import { ownerLine } from '../plugin/identity-view.ts';
import type { PluginTarget } from '../plugin/target.ts';
import { visibleText } from '../ui/visible-text.ts';
import { languageChoices } from '../workspace/language-choices.ts';

export interface StartScreenOptions {
  /** The new plugin. */
  target: PluginTarget;
  languages: readonly Language[];
  /** The language that was asked for, if the service does not have it. */
  unknown?: string | undefined;
  /** Whether nothing may be changed here. */
  isReadOnly: boolean;
  /** The messages to show above. */
  notices: TemplateResult;
  onChoose: (language: Language) => void;
}

/** The page for a plugin that is not there: whoever may write chooses a language for a new one. */
export function startScreen(options: StartScreenOptions): TemplateResult {
  const { target, languages, notices, isReadOnly, onChoose } = options;
  const { start } = texts();
  return html`<div class="start">
    ${notices}
    <main class="message">
      <div class="message-box">
        <p class="eyebrow">${isReadOnly ? start.missing : start.eyebrow}</p>
        <h1><bdi>${visibleText(target.fn)}</bdi></h1>
        ${ownerLine(target.ident)}
        <p>${introduction(options)}</p>
        ${isReadOnly ? '' : languageChoices(languages, onChoose)}
      </div>
    </main>
  </div>`;
}

function introduction({ languages, unknown, isReadOnly }: StartScreenOptions): string {
  const { start } = texts();
  if (isReadOnly) return start.readOnly;
  if (!languages.length) return start.noLanguage;
  return unknown ? start.noTemplate(unknown) : start.choose;
}
