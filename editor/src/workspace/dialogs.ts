import { type TemplateResult, html, nothing, render } from 'lit/html.js';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { pluginNames } from '../plugin/identity-view.ts';
import type { PluginTarget } from '../plugin/target.ts';
import type { FailedTests } from '../tests/test-list.ts';
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
  const rules = language === 'assemblyscript' ? words.assemblyScriptText : words.sandboxText;
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
        .value=${String(fontSize)}
        @change=${({ currentTarget }: Event) => {
          const { valueAsNumber } = currentTarget as HTMLInputElement;
          if (Number.isFinite(valueAsNumber))
            store.change({ fontSize: Math.min(FONT_SIZES.max, Math.max(FONT_SIZES.min, valueAsNumber)) });
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

/** The longest message of a version, in characters. */
const MAX_MESSAGE_LENGTH = 500;
/** How many names of failed tests are listed at most. */
const MAX_NAMES = 8;

/**
 * Lets the user confirm a deployment and write a message for the version. Resolves with the message, which may be empty, or
 * with `undefined` where the user cancels.
 * @param failed the tests that failed when they ran last
 */
export function showDeployDialog({ names: failed, isCurrent }: FailedTests): Promise<string | undefined> {
  const { deploy, common } = texts();
  const sentence = isCurrent ? deploy.failed : deploy.failedBefore;
  const more = failed.length - MAX_NAMES;
  return openDialog<string>({
    className: 'ask',
    title: failed.length ? deploy.titleFailed : deploy.title,
    content: (close) => html`
      <form
        class="dialog-form"
        method="dialog"
        @submit=${(event: SubmitEvent) => {
          event.preventDefault();
          const message = new FormData(event.currentTarget as HTMLFormElement).get('message');
          close(typeof message === 'string' ? message.trim() : '');
        }}
      >
        ${
          failed.length
            ? html`<p>${sentence(failed.length)}</p>
                <ul class="failed-tests">
                  ${failed.slice(0, MAX_NAMES).map((name) => html`<li>${name}</li>`)}
                  ${more > 0 ? html`<li>${deploy.andMore(formatNumber(more))}</li>` : nothing}
                </ul>`
            : nothing
        }
        <label for="deploy-message">${deploy.message}</label>
        <textarea
          id="deploy-message"
          name="message"
          class="field"
          rows="2"
          maxlength=${MAX_MESSAGE_LENGTH}
          aria-describedby="deploy-hint"
        ></textarea>
        <p id="deploy-hint" class="panel-hint">${deploy.messageHint}</p>
        <footer>
          <button type="button" class="button" @click=${() => close()}>${common.cancel}</button>
          <button type="submit" class="button primary">
            ${failed.length ? deploy.anyway : deploy.deploy}
          </button>
        </footer>
      </form>
    `,
    onOpen: (dialog) => {
      // Where tests failed, the focus stays on the dialog, so that a screen reader reads the question first.
      if (!failed.length) queueMicrotask(() => dialog.querySelector<HTMLElement>('#deploy-message')?.focus());
    },
  });
}
