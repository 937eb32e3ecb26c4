import { type TemplateResult, html } from 'lit/html.js';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';

/** A part of a stack trace: plain text, or a place in the plugin's source. */
export type TracePart = string | { text: string; line: number; column: number };

// A frame of a stack, as the sandbox writes it: `at run (plugin.ts:3:11)`, `at plugin.js:3:11`.
const PLACE = /\bplugin\.(?:js|ts|mjs|mts|as):(\d{1,6}):(\d{1,6})/g;

/** Splits a text at the places in the source that it names. */
export function readTrace(text: string): TracePart[] {
  const parts: TracePart[] = [];
  let end = 0;
  for (const match of text.matchAll(PLACE)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    parts.push({ text: match[0], line: Number(match[1]), column: Number(match[2]) });
    end = match.index + match[0].length;
  }
  if (end < text.length || !parts.length) parts.push(text.slice(end));
  return parts;
}

/** Renders a stack trace, with places in the source as buttons. They hold no white space, which would show in a trace. */
export const traceLines = (
  text: string,
  onJump?: (line: number, column: number) => void,
): (string | TemplateResult)[] =>
  readTrace(text).map((part) =>
    typeof part === 'string'
      ? part
      : onJump
        ? html`<button
            type="button"
            class="link place"
            title=${texts().result.goTo(formatNumber(part.line))}
            .textContent=${part.text}
            @click=${() => onJump(part.line, part.column)}
          ></button>`
        : part.text,
  );
