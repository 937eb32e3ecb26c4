import { type TemplateResult, html, nothing } from 'lit/html.js';
import type { RecordedCall } from 'plugin-editor/client.js';
import { formatDuration } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';

/**
 * The calls of a run, in the order in which they began.
 * @param onTake takes their responses into a test; missing where that cannot be done
 */
export function callsView(
  calls: readonly RecordedCall[],
  onTake?: () => void,
): TemplateResult | typeof nothing {
  if (!calls.length) return nothing;
  const words = texts().calls;
  return html`<p class="result-label">${words.title}</p>
    <ul class="run-calls">
      ${calls.map(callView)}
    </ul>
    ${
      onTake
        ? html`<div class="panel-actions">
              <button type="button" class="button take-calls" @click=${onTake}>${words.take}</button>
            </div>
            <p class="panel-hint">${words.takeHint}</p>`
        : nothing
    }`;
}

const callView = ({ method, url, status, error, took }: RecordedCall) =>
  html`<li data-tone=${error === undefined ? 'calm' : 'bad'}>
    <code dir="ltr">${method} ${url}</code> ${status ?? error}
    ${took ? html`<span class="entry-outcome">${formatDuration(took)}</span>` : nothing}
  </li>`;
