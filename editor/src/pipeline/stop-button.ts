import { type TemplateResult, html } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { icon } from '../ui/icon.ts';

/** The button that stops an action, for beside the text that says that it runs. */
export const stopButton = (onStop: () => void, className = 'button'): TemplateResult =>
  html`<button type="button" class="${className} stop" @click=${onStop}>
    ${icon('stop')}${texts().common.stop}
  </button>`;
