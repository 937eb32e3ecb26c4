import { type TemplateResult, html, nothing } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { pluginIdentity } from '../plugin/identity-view.ts';
import type { PluginTarget, UnusableField } from '../plugin/target.ts';
import { type Failure, failureKey } from '../service/failure.ts';

export interface MessageOptions {
  title: string;
  text: string;
  /** The plugin that the message is about, if it is about one. */
  plugin?: PluginTarget | undefined;
  /** What the user can do here. */
  action?: { label: string; run: () => void } | undefined;
}

/** The page without an editor: why there is none, and what the user can do. */
export const messageView = ({ title, text, plugin, action }: MessageOptions): TemplateResult =>
  html`<main class="message">
    <div class="message-box" role="alert">
      <h1>${title}</h1>
      <p>${text}</p>
      ${plugin ? pluginIdentity(plugin) : nothing}
      ${
        action
          ? html`<button type="button" class="button primary" @click=${action.run}>${action.label}</button>`
          : nothing
      }
    </div>
  </main>`;

/** The page while a plugin is being loaded. */
export const waitingView = (plugin: PluginTarget): TemplateResult =>
  html`<main class="message">
    <h1 class="visually-hidden">${texts().app.title}</h1>
    <div class="message-box opening">
      <p class="waiting" role="status">${texts().app.opening}</p>
      ${pluginIdentity(plugin)}
    </div>
  </main>`;

/** The message where a plugin could not be loaded. */
export const openFailureText = (failure: Failure): MessageOptions => texts().app[failureKey(failure)];

/** The message about a field whose value cannot be used. */
export function unusableFieldText(field: UnusableField): MessageOptions {
  const { cannotOpen, unusable } = texts().app;
  const text =
    field === 'ident' || field === 'token' || field === 'address' ? unusable[field] : unusable.name(field);
  return { title: cannotOpen, text };
}
