import { type TemplateResult, html } from 'lit/html.js';
import type { Language } from 'plugin-editor/client.js';
import { prettyLanguage } from '../code/languages.ts';
import { texts } from '../locales/locale.ts';
import { openDialog } from '../ui/dialog.ts';
import type { Access } from './access.ts';
import type { DraftSaving } from './draft-saving.ts';
import type { PluginSession } from './plugin-session.ts';

const NOTICE = 'language';

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

/** Lets the user choose the language to start over in. `isKept`: whether this browser can keep the former text. */
const showLanguageDialog = (
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

/** The parts of an open plugin that starting over changes. */
export interface StartOverParts {
  session: PluginSession;
  access: Access;
  saving: DraftSaving;
}

/**
 * Starts over in another language, once the user has confirmed it: the template of that language replaces text and tests, which
 * this browser keeps.
 * @param language the one to start over in; without it, or where the service lacks it, the user chooses among all others
 */
export async function startOver(
  { session, access, saving }: StartOverParts,
  language: string | undefined,
): Promise<void> {
  if (!access.canWrite) return;
  const { client, copies, notices, signal } = session;
  try {
    const { languages } = await client.getFeatures({ signal });
    const others = languages.filter(({ identifier }) => identifier !== saving.source.lang);
    const wanted = others.filter(({ identifier }) => identifier === language);
    const chosen = await showLanguageDialog(wanted.length ? wanted : others, copies.canKeep());
    if (!chosen || signal.aborted) return;
    const template = await session.loadTemplate(chosen.identifier);
    if (!access.canWrite) return;
    // Read only now, because the user may have typed while all this was loaded.
    const former = saving.source;
    const isKept = copies.keepAside(former);
    saving.restore(template);
    notices.show(NOTICE, () => {
      const words = texts().language;
      const bringBack = () => {
        notices.hide(NOTICE);
        saving.restore(former);
      };
      return {
        tone: 'note',
        text: isKept ? words.done(chosen.pretty) : words.doneNotKept(chosen.pretty),
        actions: [{ label: words.bringBack, run: bringBack }, notices.dismiss(NOTICE)],
      };
    });
  } catch {
    if (signal.aborted) return;
    notices.show(NOTICE, () => ({
      tone: 'alert',
      text: texts().language.failed,
      actions: [notices.dismiss(NOTICE)],
    }));
  }
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
