import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import { copySource } from '../actions.ts';
import type { WebhookView } from '../../vendor/wire.ts';
import type { LogEntry } from '../event-log.ts';
import { pageSource } from '../markup.ts';
import { choose } from '../preferences.ts';
import { change } from '../state.ts';
import type { State } from '../state.ts';
import { deliveryView, lookView } from './choices.ts';
import { timeView } from './versions.ts';

/** The drawer for developers: look, token delivery, the elements' events, webhooks and the HTML. */
export function inspectorView(state: State): TemplateResult {
  const source = pageSource(state);
  return html`<aside
    id="inspector"
    class="inspector"
    aria-labelledby="inspector-title"
    ?hidden=${state.drawer === 'closed'}
  >
    <div class="drawer-bar">
      <h2 id="inspector-title">Under the hood</h2>
      <button class="quiet" id="close-drawer" @click=${closeDrawer}>Close</button>
    </div>
    ${lookView(state)} ${deliveryView(state)} ${eventsView(state.log)} ${webhooksView(state.webhooks)}
    ${sourceView(source, state.copied === source)}
  </aside>`;
}

function closeDrawer(): void {
  choose({ drawer: 'closed' });
  document.querySelector<HTMLElement>('#developers')?.focus();
}

const eventsView = (log: readonly LogEntry[]) => html`
  <div class="part">
    <div class="section-bar">
      <h3 id="events-title">Events</h3>
      <button class="quiet" id="clear-log" ?disabled=${log.length === 0} @click=${() => change({ log: [] })}>
        Clear
      </button>
    </div>
    <div class="log" role="log" tabindex="0" aria-labelledby="events-title" ${ref(keepNewestInView(log))}>
      ${
        log.length === 0
          ? html`<p class="soft">None yet. Each one that the elements fire appears here.</p>`
          : html`<ol>
              ${log.map(
                ({ time, type, fields }) => html`
                  <li>
                    <time>${time}</time>
                    <code class="type">${type}</code>
                    ${fields ? html`<span class="fields">${fields}</span>` : nothing}
                  </li>
                `,
              )}
            </ol>`
      }
    </div>
  </div>
`;

const webhooksView = (webhooks: readonly WebhookView[]) => html`
  <div class="part">
    <h3 id="webhooks-title">Webhooks</h3>
    <div class="webhooks" role="log" tabindex="0" aria-labelledby="webhooks-title">
      ${
        webhooks.length === 0
          ? html`<p class="soft">None yet. What the plugin service tells Larder appears here.</p>`
          : html`<ol>
              ${webhooks.map(
                ({ at, type, fields }) => html`
                  <li>
                    ${timeView(at)} <code class="type">${type}</code> <span class="fields">${fields}</span>
                  </li>
                `,
              )}
            </ol>`
      }
    </div>
  </div>
`;

/** Scrolls to the newest entry. Lit calls the function again whenever it is another one, so each log gets its own. */
function keepNewestInView(log: readonly LogEntry[]): (element?: Element) => void {
  return (element) => {
    if (element && log.length > 0) queueMicrotask(() => element.scrollTo({ top: element.scrollHeight }));
  };
}

const sourceView = (source: string, copied: boolean) => html`
  <div class="part">
    <div class="section-bar">
      <h3 id="source-title">The HTML that does it</h3>
      <button class="quiet" id="copy-source" @click=${() => copySource(source)}>Copy</button>
      <span class="soft" role="status">${copied ? 'Copied' : nothing}</span>
    </div>
    <pre class="source" role="region" tabindex="0" aria-labelledby="source-title"><code>${source}</code></pre>
    <p class="soft">The other half is the back end’s token endpoint: <code>demo/vendor/app.ts</code>.</p>
  </div>
`;
