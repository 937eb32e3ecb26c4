import { type LitElement, html } from 'lit';

/**
 * What stands in state `error`: what cannot be done, why, and a button to try again.
 * @param retry what the button does; once it has ended, well or not, the element has the focus that the button had
 */
export function renderError(
  element: LitElement,
  what: string,
  { message }: Error,
  strings: { retry: string },
  retry: () => Promise<void>,
): unknown {
  const onClick = async () => {
    await retry().catch(() => {});
    await element.updateComplete;
    // The button went away with its view, and the focus with it.
    if (document.activeElement === document.body) element.focus();
  };
  return html`<div part="error" role="alert">
    <slot name="error">
      <p>${what} <small>${message}</small></p>
      <button part="retry" @click=${onClick}>${strings.retry}</button>
    </slot>
  </div>`;
}
