import { prettyLanguage } from '../code/languages.ts';
import { texts } from '../locales/locale.ts';
import type { Workspace } from './workspace.ts';

/** The kind of the notices about the language. */
export const NOTICE = 'language';

/** The languages whose notice the user has dismissed. Other plugins that keep their language do not show it again. */
const dismissed = new Set<string>();

/** Says that a draft keeps its language although another one was asked for, and offers to start over in that one. */
export function showLanguageNotice(workspace: Workspace, asked: string): void {
  const { session, access, document } = workspace;
  const { notices } = session;
  if (dismissed.has(asked)) return;
  document.on('language', () => notices.hide(NOTICE));
  notices.show(NOTICE, () => {
    const words = texts().language;
    const dismiss = {
      label: texts().common.dismiss,
      run: () => {
        dismissed.add(asked);
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
