import { type Command, shortcutText } from './commands.ts';
import { el, icon } from './dom.ts';

const inTheText: readonly (readonly [string, string])[] = [
  ['Find and replace', shortcutText({ key: 'f' })],
  ['Complete', 'Ctrl+Space'],
  ['Comment lines', shortcutText({ key: '/' })],
  ['Undo', shortcutText({ key: 'z' })],
  ['Leave the text', 'Esc, then Tab'],
  ['Menu of commands', 'Menu key, or Shift+F10'],
];

/** Shows the keys of all commands. */
export function showHelp(commands: readonly Command[]): void {
  const row = (label: string, key: string) =>
    el('div', { class: 'keys-row' }, el('dt', {}, label), el('dd', {}, el('kbd', {}, key)));
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
      { class: 'keys' },
      ...commands.flatMap(({ label, shortcut, offered }) =>
        shortcut && (offered?.() ?? true) ? [row(label, shortcutText(shortcut))] : [],
      ),
      ...inTheText.map(([label, key]) => row(label, key)),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  dialog.focus();
}
