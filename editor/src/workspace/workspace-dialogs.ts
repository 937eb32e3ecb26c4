import type { PluginTarget } from '../plugin/target.ts';
import type { FailedTests } from '../tests/failed-tests.ts';
import type { Command } from '../ui/commands.ts';
import { loadPart } from '../ui/load-part.ts';
import { loadPartOrNotify } from '../ui/load-part-or-notify.ts';
import type { Notices } from '../ui/notices.ts';
import { settings } from '../ui/settings.ts';
import type { LanguageNoticeOptions } from './language-notice.ts';
import type { StartOverOptions } from './start-over.ts';

// Dialogs, and a notice, that are loaded when they are first shown. Where one that the user asked for cannot be loaded, a notice
// says so.

/** Shows all commands, with a search. */
export async function showPalette(notices: Notices, commands: readonly Command[]): Promise<void> {
  const part = await loadPartOrNotify(notices, () => import('../ui/command-palette.ts'));
  part?.showPalette(commands);
}

/** Shows the keys, and the names of the plugin. */
export async function showHelp(
  notices: Notices,
  commands: readonly Command[],
  target: PluginTarget,
): Promise<void> {
  const part = await loadPartOrNotify(notices, () => import('./help-dialog.ts'));
  part?.showHelp(commands, target);
}

export async function showSettings(notices: Notices): Promise<void> {
  const part = await loadPartOrNotify(notices, () => import('./settings-dialog.ts'));
  part?.showSettings(settings);
}

/** Says that the draft keeps its language, unless the plugin was closed meanwhile. */
export async function showLanguageNotice(
  notices: Notices,
  closed: AbortSignal,
  options: LanguageNoticeOptions,
): Promise<void> {
  // Where it cannot be loaded, the draft can be edited all the same.
  const part = await loadPart(() => import('./language-notice.ts')).catch(() => undefined);
  if (!closed.aborted) part?.showLanguageNotice(notices, options);
}

/** Starts over in another language. */
export async function startOver(options: StartOverOptions): Promise<void> {
  const part = await loadPartOrNotify(options.notices, () => import('./start-over.ts'));
  await part?.startOver(options);
}

/**
 * Asks what the user has to say before a deployment: a message for the version where the user wants to write one, and in any case
 * whether to deploy although tests failed. Resolves with the message, which may be empty, or with `undefined` where the user
 * cancels.
 */
export async function confirmDeploy(
  notices: Notices,
  failed: FailedTests,
  { withMessage }: { withMessage: boolean },
): Promise<string | undefined> {
  if (!withMessage && !failed.names.length) return '';
  const part = await loadPartOrNotify(notices, () => import('./deploy-dialog.ts'));
  return part?.showDeployDialog(failed);
}
