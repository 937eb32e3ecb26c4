import { html } from 'lit/html.js';
import type { Language } from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';
import { openDialog } from '../ui/dialog.ts';
import type { Access } from './access.ts';
import type { DraftSaving } from './draft-saving.ts';
import { languageChoices } from './language-choices.ts';
import { NOTICE } from './language-notice.ts';
import type { PluginSession } from './plugin-session.ts';

/** The parts of an open plugin that starting over changes. */
export interface StartOverParts {
  session: PluginSession;
  access: Access;
  saving: DraftSaving;
}

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

/**
 * The template of the language that the user chooses replaces text and tests, which this browser keeps.
 * @param language the one to start over in; without it, or where the service lacks it, the user chooses among all others
 */
export async function startOver(
  { session, access, saving }: StartOverParts,
  language?: string,
): Promise<void> {
  if (!access.canWrite) return;
  const { client, copies, notices, signal } = session;
  try {
    const { languages } = await client.getFeatures({ signal });
    // It may have been asked for twice meanwhile.
    if (document.querySelector('dialog[open]')) return;
    const others = languages.filter(({ identifier }) => identifier !== saving.source.lang);
    const wanted = others.filter(({ identifier }) => identifier === language);
    const canKeep = () => copies.canKeep(saving.source);
    for (let isKept = canKeep(); ; isKept = false) {
      const chosen = await showLanguageDialog(wanted.length ? wanted : others, isKept);
      if (!chosen || signal.aborted) return;
      const template = await session.loadTemplate(chosen.identifier);
      // The text may have grown meanwhile, and another page may have filled the storage: then the user is asked again.
      if (isKept && !canKeep()) continue;
      const said = () => texts().language.done(chosen.pretty);
      return saving.replace(template, said, { spare: template });
    }
  } catch {
    if (signal.aborted) return;
    notices.show(NOTICE, () => ({
      tone: 'alert',
      text: texts().language.failed,
      actions: [notices.dismiss(NOTICE)],
    }));
  }
}
