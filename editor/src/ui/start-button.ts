import { type TemplateResult, html, nothing } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { icon } from './icon.ts';

/** A button that is pressed by a held Enter would start and stop in turns. */
const ignoreHeldEnter = (event: KeyboardEvent) => {
  if (event.repeat && event.key === 'Enter') event.preventDefault();
};

export interface StartButtonOptions {
  className?: string;
  /** Its icon and its name. */
  content: unknown;
  title?: string;
  /** Its key, as `aria-keyshortcuts` has it. */
  keys?: string | undefined;
  /** Whether it can start nothing now. */
  isOff: boolean;
  onStart: () => void;
}

/**
 * A button that starts an action; with `onStop`, because the action runs, it stops it. It is one element all the time, so that it
 * keeps the focus.
 */
export const startButton = (
  { className = 'button', content, title, keys, isOff, onStart }: StartButtonOptions,
  onStop: (() => void) | undefined,
): TemplateResult =>
  html`<button
    type="button"
    class=${onStop ? `${className} stop` : className}
    aria-disabled=${isOff && !onStop}
    aria-keyshortcuts=${(!onStop && keys) || nothing}
    title=${(!onStop && title) || nothing}
    @keydown=${ignoreHeldEnter}
    @click=${onStop ?? (() => isOff || onStart())}
  >
    ${onStop ? html`${icon('stop')}${texts().common.stop}` : content}
  </button>`;

/** The button that stops an action, for beside the text that says that it runs. */
export const stopButton = (onStop: () => void): TemplateResult =>
  startButton({ content: nothing, isOff: false, onStart: onStop }, onStop);
