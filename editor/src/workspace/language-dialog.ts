import { html } from 'lit/html.js';
import type { Language } from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';
import { openDialog } from '../ui/dialog.ts';
import { languageChoices } from './language-choices.ts';

/** Lets the user choose the language to start over in. `isKept`: whether this browser can keep the former text. */
export const showLanguageDialog = (
  languages: readonly Language[],
  isKept: boolean,
): Promise<Language | undefined> => {
  const words = texts().language;
  return openDialog<Language>({
    className: 'ask',
    title: words.title,
    content: (close) =>
      html`<div class="dialog-form">
        <p>${isKept ? words.text : words.textNotKept}</p>
        ${languageChoices(languages, close)}
        <footer>
          <button type="button" class="button" @click=${() => close()}>${texts().common.cancel}</button>
        </footer>
      </div>`,
  });
};
