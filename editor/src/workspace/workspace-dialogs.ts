import type { PluginTarget } from '../plugin/target.ts';
import type { Command } from '../ui/commands.ts';
import { loadPartOrNotify } from '../ui/load-part-or-notify.ts';
import type { Notices } from '../ui/notices.ts';
import { settings } from '../ui/settings.ts';

// Dialogs that are loaded when they are first wanted; where one cannot be, a notice says so.

/** All commands, with a search. */
export async function showPalette(notices: Notices, commands: readonly Command[]): Promise<void> {
  const part = await loadPartOrNotify(notices, () => import('../ui/command-palette.ts'));
  part?.showPalette(commands);
}

/** The keys, and which plugin this is. */
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
