import { type TemplateResult, html, render } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { icon } from './icon.ts';

export interface DialogOptions<T> {
  /** A class of this dialog, beside `dialog`. */
  className: string;
  title: string;
  /** What is below the title; `close` ends the dialog with a choice. */
  content: (close: (value?: T) => void) => TemplateResult;
  /** Called once the dialog is in the page, before it is shown. Returns what is to be called when it closes. */
  onOpen?: (dialog: HTMLDialogElement) => (() => void) | void;
}

let count = 0;

/** Opens a modal dialog. Resolves with the user's choice, or with `undefined` when there was none. */
export function openDialog<T>({
  className,
  title,
  content,
  onOpen,
}: DialogOptions<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const dialog = document.createElement('dialog');
    const closeLabel = texts().common.close;
    const id = `dialog-${++count}`;
    let chosen: T | undefined;
    const close = (value?: T) => {
      chosen = value;
      dialog.close();
    };
    dialog.classList.add('dialog', className);
    // The dialog itself takes the focus, so that a screen reader begins with its title.
    dialog.tabIndex = -1;
    dialog.setAttribute('aria-labelledby', id);
    render(
      html`<header>
          <h2 id=${id}>${title}</h2>
          <button
            type="button"
            class="button icon-only"
            aria-label=${closeLabel}
            title=${closeLabel}
            @click=${() => close()}
          >
            ${icon('close')}
          </button>
        </header>
        ${content(close)}`,
      dialog,
    );
    document.body.append(dialog);
    const end = onOpen?.(dialog);
    dialog.addEventListener('close', () => {
      end?.();
      dialog.remove();
      resolve(chosen);
    });
    dialog.showModal();
    dialog.focus();
  });
}
