import { type LitElement, html, nothing } from 'lit';
import type { PluginEditorError } from '../core/errors.ts';

/** Whether a retry may succeed. It cannot where the page itself or the user's permissions would have to change first. */
export function canRetry(error: Error): boolean {
  const { code, status } = error as Partial<PluginEditorError>;
  return code !== 'config' && code !== 'frame-blocked' && !(code === 'token-unauthorized' && status === 403);
}

/**
 * Renders the state `error`: a text for the user of the page, and a button to try again where that may help. What a
 * developer needs to know is in the error and on the console.
 * @param key names the text that says what failed
 * @param retry what the button does; `false` for no button. When it has settled, the element gets the focus that the button had
 * @param editorMessage what the editor itself says about the error. It is left out where the page has its own text
 */
export function renderError<Strings extends { retry: string }>(
  element: LitElement & { strings: Partial<Strings> | undefined },
  key: keyof Strings,
  strings: Strings,
  retry: false | (() => Promise<void>),
  editorMessage?: string,
): unknown {
  const onClick = async () => {
    await (retry as () => Promise<void>)().catch(() => {});
    await element.updateComplete;
    // The view was replaced, and the focused button with it.
    if (document.activeElement === document.body) element.focus();
  };
  const detail = element.strings?.[key] ? '' : editorMessage;
  return html`<div part="error" role="alert">
    <slot name="error">
      <p>${strings[key]} ${detail ? html`<small>${detail}</small>` : nothing}</p>
      ${retry ? html`<button part="retry" @click=${onClick}>${strings.retry}</button>` : nothing}
    </slot>
  </div>`;
}
