import { html } from 'lit/html.js';
import type { Language, PluginSource } from 'plugin-editor/client.js';
import { prettyLanguage } from '../code/languages.ts';
import { texts } from '../locales/locale.ts';
import { sameWork } from '../plugin/source.ts';
import { openDialog } from '../ui/dialog.ts';
import { NOTICE, type StartOverParts, languageChoices } from './language.ts';

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

/** The template of the language that the user chooses replaces text and tests, which this browser keeps. */
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
    /** Replaces the source, and offers the former one, which another language leaves no way back to in the text. */
    const replace = (source: PluginSource) => {
      // Read only now, because the user may have typed meanwhile.
      const former = saving.source;
      const isKept = !sameWork(former, template) && copies.keepAside(former);
      saving.restore(source);
      notices.show(NOTICE, () => {
        const words = texts().language;
        const name = prettyLanguage(source.lang);
        const bringBack = { label: words.bringBack, run: () => replace(former) };
        return {
          tone: 'note',
          text: isKept ? words.done(name) : words.doneNotKept(name),
          actions: [...(access.canWrite ? [bringBack] : []), notices.dismiss(NOTICE)],
        };
      });
    };
    replace(template);
  } catch {
    if (signal.aborted) return;
    notices.show(NOTICE, () => ({
      tone: 'alert',
      text: texts().language.failed,
      actions: [notices.dismiss(NOTICE)],
    }));
  }
}
