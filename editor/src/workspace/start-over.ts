import type { BuilderClient, PluginSource } from 'plugin-editor/client.js';
import type { LocalCopies } from '../draft/local-copies.ts';
import { texts } from '../locales/locale.ts';
import { type TemplateOptions, loadTemplate } from '../service/template.ts';
import type { Notices } from '../ui/notices.ts';
import { showLanguageDialog } from './language-dialog.ts';

export interface StartOverOptions extends TemplateOptions {
  client: BuilderClient;
  copies: LocalCopies;
  notices: Notices;
  canWrite: () => boolean;
  /** The source as it is in the editor. */
  read: () => PluginSource;
  /** Puts a source in place of the one in the editor, and saves it. */
  restore: (source: PluginSource) => void;
  /** The language to start over in; without it, or where the service lacks it, the user chooses among all others. */
  language: string | undefined;
}

const NOTICE = 'language';

/**
 * Starts over in another language, once the user has confirmed it: the template of that language replaces text and tests, which
 * this browser keeps.
 */
export async function startOver(options: StartOverOptions): Promise<void> {
  const { client, copies, notices, canWrite, read, restore, language, signal } = options;
  try {
    const { languages } = await client.getFeatures({ signal });
    const { lang } = read();
    const others = languages.filter(({ identifier }) => identifier !== lang);
    const wanted = others.filter(({ identifier }) => identifier === language);
    // The service may not have the language that was asked for.
    const chosen = await showLanguageDialog(wanted.length ? wanted : others, copies.canKeep());
    if (!chosen || signal.aborted) return;
    const template = await loadTemplate(options, chosen.identifier);
    if (!canWrite()) return;
    // Read only now, because the user may have typed while all this was loaded.
    const former = read();
    const isKept = copies.keepAside(former);
    restore(template);
    notices.show(NOTICE, () => {
      const words = texts().language;
      const bringBack = () => {
        notices.hide(NOTICE);
        restore(former);
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
