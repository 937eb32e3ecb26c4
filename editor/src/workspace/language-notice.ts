import { prettyLanguage } from '../code/languages.ts';
import { texts } from '../locales/locale.ts';
import { settings } from '../ui/settings.ts';
import type { Workspace } from './workspace.ts';

/** The kind of the notices about the language. */
export const NOTICE = 'language';

/**
 * Says that a draft keeps its language although another one was asked for, and offers to start over in that one. Many pages ask for
 * the same language always, so this browser does not show again what the user has dismissed.
 */
export function showLanguageNotice(workspace: Workspace, asked: string): void {
  const { session, access, document } = workspace;
  const { notices } = session;
  if (settings.current.dismissed.includes(asked)) return;
  document.on('language', () => notices.hide(NOTICE));
  notices.show(NOTICE, () => {
    const words = texts().language;
    const dismiss = {
      label: texts().common.dismiss,
      run: () => {
        settings.change({ dismissed: [...settings.current.dismissed, asked] });
        notices.hide(NOTICE);
      },
    };
    const startOver = {
      label: words.startOverIn(prettyLanguage(asked)),
      run: () => void workspace.startOver(asked),
    };
    return {
      tone: 'note',
      text: words.stays(prettyLanguage(asked), prettyLanguage(document.language)),
      // What the token permits may become known later.
      actions: [...(access.canWrite ? [startOver] : []), dismiss],
    };
  });
}
