import { type LitElement, html } from 'lit';

/**
 * What stands in state `error`: what cannot be done, why, and a button to try again.
 * @param key names the text that says what cannot be done; where the page has one of its own, it stands alone, as what
 * the error says is for developers, in English
 * @param retry what the button does; once it has ended, well or not, the element has the focus that the button had
 */
export function renderError<Strings extends { retry: string }>(
  element: LitElement & { strings: Partial<Strings> | undefined },
  key: keyof Strings,
  { message }: Error,
  words: Strings,
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
      <p>${words[key]} <small>${element.strings?.[key] ? '' : message}</small></p>
      <button part="retry" @click=${onClick}>${words.retry}</button>
    </slot>
  </div>`;
}
