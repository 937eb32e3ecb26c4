import type { PluginTarget } from '../plugin/target.ts';
import type { Command } from '../ui/commands.ts';
import { loadPartOrNotify } from '../ui/load-part-or-notify.ts';
import type { Notices } from '../ui/notices.ts';
import { settings } from '../ui/settings.ts';

// Dialogs that are loaded when they are first opened. Where one cannot be loaded, a notice says so.

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
