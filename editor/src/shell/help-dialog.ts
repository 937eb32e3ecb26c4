import type { PluginTarget } from '../plugin/target.ts';
import { type Command, shortcutText } from '../ui/commands.ts';
import { el, icon } from '../ui/dom.ts';
import { pluginNames } from '../plugin/identity-view.ts';

const inTheText: readonly (readonly [string, string])[] = [
  ['Undo', shortcutText({ key: 'z' })],
  ['Leave the text', 'Esc, then Tab'],
  ['Menu of commands', 'Menu key, or Shift+F10'],
];

/** Shows the keys of all commands, and the names of the plugin, which the header may have cut off. */
export function showHelp(commands: readonly Command[], plugin: PluginTarget): void {
  const row = (label: string, value: HTMLElement) =>
    el('div', { class: 'help-row' }, el('dt', {}, label), el('dd', {}, value));
  const keyRow = (label: string, key: string) => row(label, el('kbd', {}, key));
  const close = () => dialog.close();
  const dialog = el(
    'dialog',
    { class: 'help', tabindex: '-1', 'aria-labelledby': 'help-title', onclose: () => dialog.remove() },
    el(
      'header',
      {},
      el('h2', { id: 'help-title' }, 'Keyboard'),
      el(
        'button',
        { type: 'button', class: 'button icon-only', 'aria-label': 'Close', title: 'Close', onclick: close },
        icon('close'),
      ),
    ),
    el(
      'dl',
      { class: 'help-list' },
      ...commands.flatMap(({ label, shortcut, offered }) =>
        shortcut && (offered?.() ?? true) ? [keyRow(label, shortcutText(shortcut))] : [],
      ),
      ...inTheText.map(([label, key]) => keyRow(label, key)),
    ),
    el('h2', {}, 'This plugin'),
    el('dl', { class: 'help-list' }, ...pluginNames(plugin).map(([label, name]) => row(label, name))),
  );
  document.body.append(dialog);
  dialog.showModal();
  dialog.focus();
}
