import { type TemplateResult, html } from 'lit/html.js';
import { texts } from '../locales/locale.ts';

/** How far a list is that is loaded in pages. `more`: its next page is being loaded. */
export type ListStatus = 'loading' | 'more' | 'ready' | 'failed';

/** Whether a response is awaited, so that no other request is made. */
export const isLoading = (status: ListStatus): boolean => status === 'loading' || status === 'more';

/** A button that loads the next page of a list. `onPress` may be called while a response is awaited. */
export function moreButton(status: ListStatus, onPress: () => void): TemplateResult {
  const { loading, showMore } = texts().common;
  return html`<button type="button" class="button quiet" aria-disabled=${isLoading(status)} @click=${onPress}>
    ${status === 'more' ? loading : showMore}
  </button>`;
}
