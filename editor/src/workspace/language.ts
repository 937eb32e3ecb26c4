import { type TemplateResult, html } from 'lit/html.js';
import type { Language } from 'plugin-editor/client.js';
import { prettyLanguage } from '../code/languages.ts';
import { texts } from '../locales/locale.ts';
import type { Access } from './access.ts';
import type { DraftSaving } from './draft-saving.ts';
import type { PluginSession } from './plugin-session.ts';

/** The kind of the notices about the language. */
export const NOTICE = 'language';

/** The languages whose notice the user has dismissed. Other plugins that keep their language do not show it again. */
const dismissed = new Set<string>();

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

/** The parts of an open plugin that starting over changes. */
export interface StartOverParts {
  session: PluginSession;
  access: Access;
  saving: DraftSaving;
}

/**
 * Starts over in another language, once the user has confirmed it.
 * @param language the one to start over in; without it, or where the service lacks it, the user chooses among all others
 */
export async function startOver(parts: StartOverParts, language?: string): Promise<void> {
  const module = await parts.session.notices.loadModule(() => import('./start-over.ts'));
  await module?.startOver(parts, language);
}

/** Says that a draft keeps its language although another one was asked for, and offers to start over in that one. */
export function showLanguageNotice(parts: StartOverParts, asked: string): void {
  const { session, access, saving } = parts;
  const { notices } = session;
  if (dismissed.has(asked)) return;
  notices.show(NOTICE, () => {
    const words = texts().language;
    const dismiss = {
      label: texts().common.dismiss,
      run: () => {
        dismissed.add(asked);
        notices.hide(NOTICE);
      },
    };
    const startOverInAsked = {
      label: words.startOverIn(prettyLanguage(asked)),
      run: () => {
        notices.hide(NOTICE);
        void startOver(parts, asked);
      },
    };
    return {
      tone: 'note',
      text: words.stays(prettyLanguage(asked), prettyLanguage(saving.source.lang)),
      // What the token permits may become known later.
      actions: [...(access.canWrite ? [startOverInAsked] : []), dismiss],
    };
  });
}
