import { type TemplateResult, html } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { pluginNames } from '../plugin/identity-view.ts';
import type { PluginTarget } from '../plugin/target.ts';
import { type Command, isOffered, shortcutText } from '../ui/commands.ts';
import { openDialog } from '../ui/dialog.ts';

/** Shows the keys of all commands, what plugins can use, and the plugin's names in full, which the header may cut off. */
export function showHelp(commands: readonly Command[], plugin: PluginTarget): void {
  const words = texts().help;
  const inTheText: readonly (readonly [string, string])[] = [
    [words.undo, shortcutText({ key: 'z' })],
    [words.leave, words.leaveKeys],
    [words.menu, words.menuKeys],
    [words.resize, words.resizeKeys],
  ];
  const row = (label: string, value: TemplateResult) =>
    html`<div class="help-row">
      <dt>${label}</dt>
      <dd>${value}</dd>
    </div>`;
  const keyRow = (label: string, key: string) => row(label, html`<kbd>${key}</kbd>`);
  void openDialog({
    className: 'help',
    title: words.title,
    content: () => html`
      <dl class="help-list">
        ${commands
          .filter(isOffered)
          .map(({ label, shortcut }) => (shortcut ? keyRow(label, shortcutText(shortcut)) : ''))}
        ${inTheText.map(([label, key]) => keyRow(label, key))}
      </dl>
      <h2>${words.sandbox}</h2>
      <div class="help-list help-text">${words.sandboxText.map((one) => html`<p>${one}</p>`)}</div>
      <h2>${words.plugin}</h2>
      <dl class="help-list">${pluginNames(plugin).map(([label, name]) => row(label, name))}</dl>
    `,
  });
}
