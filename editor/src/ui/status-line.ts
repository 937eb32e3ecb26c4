import { type TemplateResult, html } from 'lit/html.js';

/** How a state is shown. */
export interface StatusText {
  text: string;
  tone: 'calm' | 'busy' | 'good' | 'bad';
}

/**
 * Several states in one line, in the given order; those that say nothing are not seen. A screen reader reads out only the
 * part that changed.
 */
export function statusLine(parts: Readonly<Record<string, StatusText | undefined>>): TemplateResult {
  const said = Object.entries(parts);
  const whole = said.flatMap(([, part]) => part?.text ?? []).join(', ');
  const isBad = said.some(([, part]) => part?.tone === 'bad');
  // Spans, whose white space counts: what is read out begins with the first part.
  return html`<span class="status ${isBad ? 'bad' : ''}" role="status" aria-atomic="false" title=${whole}
    >${said.map(
      ([name, part], index) =>
        html`${part && index ? ', ' : ''}<span
            class="status-part status-${name}"
            data-tone=${part?.tone ?? 'calm'}
            ?hidden=${!part}
            >${part?.text ?? ''}</span
          >`,
    )}</span
  >`;
}
