import type { PluginSource } from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';
import type { Notices } from '../ui/notices.ts';
import { showCompareDialog } from './compare-dialog.ts';
import { mergeSources } from './merge.ts';

export interface ConflictOptions {
  /** What both sides began with. */
  base: PluginSource;
  mine: PluginSource;
  theirs: PluginSource;
  notices: Notices;
  /** Replaces the source in the editor. */
  replace: (source: PluginSource) => void;
  /** Replaces the source in the editor, and saves it. */
  restore: (source: PluginSource) => void;
}

const NOTICE = 'settled';

/**
 * Lets the user choose between two edits of a draft, or take both where they do not overlap. Resolves with `false` where the
 * user closed the dialog without a choice.
 */
export async function resolveConflict(options: ConflictOptions): Promise<boolean> {
  const { base, mine, theirs, notices, replace, restore } = options;
  const { conflict } = texts();
  const merged = mergeSources(base, mine, theirs);
  const choice = await showCompareDialog<'mine' | 'theirs' | 'both'>({
    title: conflict.title,
    text: merged ? conflict.textMerge : conflict.text,
    versions: [
      { label: conflict.theirs, source: theirs },
      { label: conflict.mine, source: mine },
    ],
    choices: [
      ...(merged ? [{ label: conflict.merge, value: 'both' as const, primary: true }] : []),
      { label: conflict.keepMine, value: 'mine', primary: !merged },
      { label: conflict.takeTheirs, value: 'theirs' },
    ],
  });
  const taken = choice === 'both' ? merged : choice === 'theirs' ? theirs : undefined;
  if (taken) {
    replace(taken);
    notices.show(NOTICE, () => {
      const { save } = texts();
      const undo = () => {
        notices.hide(NOTICE);
        restore(mine);
      };
      return {
        tone: 'note',
        text: choice === 'both' ? save.merged : save.tookTheirs,
        actions: [{ label: save.bringMineBack, run: undo }, notices.dismiss(NOTICE)],
      };
    });
  }
  return choice !== undefined;
}
