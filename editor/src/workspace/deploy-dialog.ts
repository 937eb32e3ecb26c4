import { html, nothing } from 'lit/html.js';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import type { FailedTests } from '../tests/failed-tests.ts';
import { openDialog } from '../ui/dialog.ts';

/** The longest message of a version, in characters. */
const MAX_MESSAGE_LENGTH = 500;
/** How many names of failed tests are listed at most. */
const MAX_NAMES = 8;

/**
 * Lets the user confirm a deployment and write a message for the version. Resolves with the message, which may be empty, or
 * with `undefined` where the user cancels.
 * @param failed the tests that failed when they ran last
 */
export function showDeployDialog({ names: failed, isCurrent }: FailedTests): Promise<string | undefined> {
  const { deploy, common } = texts();
  const sentence = isCurrent ? deploy.failed : deploy.failedBefore;
  const more = failed.length - MAX_NAMES;
  return openDialog<string>({
    className: 'ask',
    title: failed.length ? deploy.titleFailed : deploy.title,
    content: (close) => html`
      <form
        class="dialog-form"
        method="dialog"
        @submit=${(event: SubmitEvent) => {
          event.preventDefault();
          const message = new FormData(event.currentTarget as HTMLFormElement).get('message');
          close(typeof message === 'string' ? message.trim() : '');
        }}
      >
        ${
          failed.length
            ? html`<p>${sentence(failed.length)}</p>
                <ul class="failed-tests">
                  ${failed.slice(0, MAX_NAMES).map((name) => html`<li>${name}</li>`)}
                  ${more > 0 ? html`<li>${deploy.andMore(formatNumber(more))}</li>` : nothing}
                </ul>`
            : nothing
        }
        <label for="deploy-message">${deploy.message}</label>
        <textarea
          id="deploy-message"
          name="message"
          class="field"
          rows="2"
          maxlength=${MAX_MESSAGE_LENGTH}
          aria-describedby="deploy-hint"
        ></textarea>
        <p id="deploy-hint" class="panel-hint">${deploy.messageHint}</p>
        <footer>
          <button type="button" class="button" @click=${() => close()}>${common.cancel}</button>
          <button type="submit" class="button primary">
            ${failed.length ? deploy.anyway : deploy.deploy}
          </button>
        </footer>
      </form>
    `,
    onOpen: (dialog) => {
      // Where tests failed, the focus stays on the dialog, so that a screen reader reads the question first.
      if (!failed.length) queueMicrotask(() => dialog.querySelector<HTMLElement>('#deploy-message')?.focus());
    },
  });
}
