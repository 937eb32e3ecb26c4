import type { PluginSource } from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';
import { showCompareDialog } from './compare-dialog.ts';
import { mergeSources } from './merge.ts';

export interface ConflictOptions {
  /** What both sides began with. */
  base: PluginSource;
  mine: PluginSource;
  theirs: PluginSource;
  /** Replaces the source in the editor, with a way back. `said` says what is there now. */
  replace: (source: PluginSource, said: () => string) => void;
}

/**
 * Lets the user choose between two edits of a draft, or take both where they do not overlap. Resolves with `false` where the
 * user closed the dialog without a choice.
 */
export async function resolveConflict({ base, mine, theirs, replace }: ConflictOptions): Promise<boolean> {
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
  if (choice === 'both' && merged) replace(merged, () => texts().save.merged);
  if (choice === 'theirs') replace(theirs, () => texts().save.tookTheirs);
  return choice !== undefined;
}
