import { type TemplateResult, html } from 'lit/html.js';

/** One part of the status line. */
export interface StatusText {
  text: string;
  tone: 'calm' | 'busy' | 'good' | 'bad';
}

/** Texts with fewer characters than this are never cut off. */
const SHORT = 12;

/**
 * The status line, with its parts in the given order; a part that is `undefined` is hidden. A screen reader reads out only
 * the part that changed.
 */
export function statusLine(parts: Readonly<Record<string, StatusText | undefined>>): TemplateResult {
  const said = Object.entries(parts);
  const whole = said.flatMap(([, part]) => part?.text ?? []).join(', ');
  const isBad = said.some(([, part]) => part?.tone === 'bad');
  // White space between spans counts, so there is none at the beginning of what is read out.
  return html`<span class="status ${isBad ? 'bad' : ''}" role="status" aria-atomic="false" title=${whole}
    >${said.map(
      ([name, part], index) =>
        html`${part && index ? ', ' : ''}<span
            class="status-part status-${name}"
            data-tone=${part?.tone ?? 'calm'}
            ?data-short=${(part?.text.length ?? 0) < SHORT}
            ?hidden=${!part}
            ><bdi>${part?.text ?? ''}</bdi></span
          >`,
    )}</span
  >`;
}
