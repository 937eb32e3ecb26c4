import { type TemplateResult, html, nothing } from 'lit/html.js';
import { texts } from '../locales/locale.ts';

/** How far a list is that is loaded in pages. `more`: its next page is being loaded; `more-failed`: that failed. */
export type ListStatus = 'loading' | 'more' | 'ready' | 'failed' | 'more-failed';

/** Whether a response is awaited, so that no other request is made. */
export const isLoading = (status: ListStatus): boolean => status === 'loading' || status === 'more';

/**
 * A button that loads the next page of a list. `onPress` must check `isLoading` itself: a click can come before the button is drawn
 * again.
 * @param failed what is said where the page could not be loaded
 */
export function moreButton(status: ListStatus, failed: string, onPress: () => void): TemplateResult {
  const { loading, showMore } = texts().common;
  return html`${
      status === 'more-failed' ? html`<p class="panel-empty panel-wait" role="status">${failed}</p>` : nothing
    }<button type="button" class="button quiet" aria-disabled=${isLoading(status)} @click=${onPress}>
      ${status === 'more' ? loading : showMore}
    </button>`;
}
