import { live } from 'lit/directives/live.js';
import { type TemplateResult, html, nothing, render } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { pluginNames } from '../plugin/identity-view.ts';
import type { PluginTarget } from '../plugin/target.ts';
import { type Command, isOffered, shortcutText } from '../ui/commands.ts';
import { openDialog } from '../ui/dialog.ts';
import { FONT_SIZES, type SettingsStore, TAB_WIDTHS } from '../ui/settings.ts';

const helpRow = (label: string, value: TemplateResult) =>
  html`<div class="help-row">
    <dt>${label}</dt>
    <dd>${value}</dd>
  </div>`;

/** Shows the keys of all commands. */
export function showKeys(commands: readonly Command[]): void {
  const words = texts().keyboard;
  const inTheText: readonly (readonly [string, string])[] = [
    [words.undo, shortcutText({ key: 'z' })],
    [words.leave, words.leaveKeys],
    [words.menu, words.menuKeys],
    [words.resize, words.resizeKeys],
  ];
  const keyRow = (label: string, key: string) => helpRow(label, html`<kbd>${key}</kbd>`);
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
    `,
  });
}

/** Shows the plugin's names in full, which the header may cut off, and what plugins can use. */
export function showAbout(plugin: PluginTarget, language: string): void {
  const words = texts().about;
  const rules =
    language === 'assemblyscript'
      ? words.assemblyScriptText
      : language === 'python'
        ? words.pythonText
        : words.sandboxText;
  void openDialog({
    className: 'help',
    title: words.title,
    content: () => html`
      <dl class="help-list">${pluginNames(plugin).map(([label, name]) => helpRow(label, name))}</dl>
      <h2>${words.sandbox}</h2>
      <div class="help-list help-text">${rules.map((one) => html`<p>${one}</p>`)}</div>
    `,
  });
}

/** Lets the user change how code is shown and typed. Each change applies at once. */
export function showSettings(store: SettingsStore): void {
  void openDialog({
    className: 'settings',
    title: texts().settings.title,
    content: () => html`<div class="settings-fields"></div>`,
    onOpen: (dialog) => {
      const place = dialog.querySelector<HTMLElement>('.settings-fields');
      const draw = () => place && render(settingsFields(store), place);
      draw();
      return store.subscribe(draw);
    },
  });
}

function settingsFields(store: SettingsStore): TemplateResult {
  const words = texts().settings;
  const { wrap, fontSize, tabWidth, vim } = store.current;
  const checkbox = (name: 'wrap' | 'vim', label: string, isOn: boolean) =>
    html`<label class="setting">
      <input
        type="checkbox"
        .checked=${isOn}
        @change=${({ currentTarget }: Event) =>
          store.change({ [name]: (currentTarget as HTMLInputElement).checked })}
      />
      <span>${label}</span>
    </label>`;
  return html`<p class="panel-hint">${words.text}</p>
    ${checkbox('wrap', words.wrap, wrap)}
    <label class="setting">
      <span>${words.fontSize}</span>
      <input
        class="field"
        type="number"
        min=${FONT_SIZES.min}
        max=${FONT_SIZES.max}
        step="0.5"
        .value=${live(String(fontSize))}
        @change=${({ currentTarget }: Event) => {
          const { valueAsNumber: typed } = currentTarget as HTMLInputElement;
          const size = Number.isFinite(typed) ? typed : fontSize;
          store.change({ fontSize: Math.min(FONT_SIZES.max, Math.max(FONT_SIZES.min, size)) });
        }}
      />
    </label>
    <label class="setting">
      <span>${words.tabWidth}</span>
      <select
        class="field"
        @change=${({ currentTarget }: Event) =>
          store.change({ tabWidth: Number((currentTarget as HTMLSelectElement).value) })}
      >
        ${TAB_WIDTHS.map((width) => html`<option value=${width} ?selected=${width === tabWidth}>${width}</option>`)}
      </select>
    </label>
    ${checkbox('vim', words.vim, vim)}
    <p class="panel-hint">${words.vimHint}</p>
    ${store.isKept ? nothing : html`<p class="panel-hint" role="status">${words.notKept}</p>`}`;
}
