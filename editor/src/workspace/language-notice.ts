import { prettyLanguage } from '../code/languages.ts';
import { texts } from '../locales/locale.ts';
import type { Notices } from '../ui/notices.ts';

const NOTICE = 'language';

export interface LanguageNoticeOptions {
  /** The language that was asked for. */
  asked: string;
  /** The one that the draft is written in. */
  present: string;
  /** Asked whenever the notice is drawn, because what the token permits may become known later. */
  canStartOver: () => boolean;
  onStartOver: () => void;
}

/** Says that a draft keeps its language, and offers to start over in the one that was asked for. */
export function showLanguageNotice(
  notices: Notices,
  { asked, present, canStartOver, onStartOver }: LanguageNoticeOptions,
): void {
  notices.show(NOTICE, () => {
    const words = texts().language;
    const startOver = {
      label: words.startOverIn(prettyLanguage(asked)),
      run: () => {
        notices.hide(NOTICE);
        onStartOver();
      },
    };
    return {
      tone: 'note',
      text: words.stays(prettyLanguage(asked), prettyLanguage(present)),
      actions: [...(canStartOver() ? [startOver] : []), notices.dismiss(NOTICE)],
    };
  });
}
