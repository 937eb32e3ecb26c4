import { type LitElement, html, nothing } from 'lit';
import type { PluginEditorError } from '../core/errors.ts';

/** Whether a retry may succeed. It cannot where the page itself or the user's permissions would have to change first. */
export function canRetry(error: Error): boolean {
  const { code, status } = error as Partial<PluginEditorError>;
  return !/^(config|frame-blocked)$/.test(code ?? '') && !(code === 'token-unauthorized' && status === 403);
}

/**
 * What is shown in state `error`: what cannot be done, and a button to try again where that may help. It speaks to the user
 * of the page; what a developer needs to know is in the error and on the console.
 * @param key names the text that says what failed. A text of the page's own is shown without `said`
 * @param retry what the button does. When it has settled, the element gets the focus that the button had
 * @param said what the editor itself says about the error
 */
export function renderError<Strings extends { retry: string }>(
  element: LitElement & { strings: Partial<Strings> | undefined },
  key: keyof Strings,
  strings: Strings,
  retry: false | (() => Promise<void>),
  said?: string,
): unknown {
  const onClick = async () => {
    await (retry as () => Promise<void>)().catch(() => {});
    await element.updateComplete;
    // The view was replaced, and the focused button with it.
    if (document.activeElement === document.body) element.focus();
  };
  return html`<div part="error" role="alert">
    <slot name="error">
      <p>${strings[key]} ${said && !element.strings?.[key] ? html`<small>${said}</small>` : nothing}</p>
      ${retry ? html`<button part="retry" @click=${onClick}>${strings.retry}</button>` : nothing}
    </slot>
  </div>`;
}
