import { type TemplateResult, html } from 'lit/html.js';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';

export type LogLevel = 'log' | 'info' | 'debug' | 'warn' | 'error';

export interface LogEntry {
  level: LogLevel;
  text: string;
}

/** The most entries that are shown. */
const MAX_ENTRIES = 500;

/** Parses a log entry: the sandbox puts the level before the text, but none for `console.log`. */
function readLogEntry(entry: string): LogEntry {
  const [mark = '', level] = /^\[(info|debug|warn|error)\] /.exec(entry) ?? [];
  return level ? { level: level as LogLevel, text: entry.slice(mark.length) } : { level: 'log', text: entry };
}

/** The log entries of a run. Places in the source that they name are buttons that go there. */
export function logsView(
  entries: readonly string[],
  onJump?: (line: number, column: number) => void,
): TemplateResult {
  const { result } = texts();
  const shown = entries.slice(0, MAX_ENTRIES).map(readLogEntry);
  const rest = entries.length - shown.length;
  return html`<details class="result-logs" open>
    <summary>${result.logs(entries.length)}</summary>
    <div class="output log-entries" dir="ltr" tabindex="0" role="group" aria-label=${result.logsName}>
      ${shown.map(
        ({ level, text }) =>
          html`<p class="log-entry" data-level=${level}>
            ${level === 'log' ? '' : html`<span class="log-level">${result.levels[level]}</span>`}<span
              class="verbatim"
              >${traceLines(text, onJump)}</span
            >
          </p>`,
      )}
      ${rest > 0 ? html`<p class="log-entry">…</p>` : ''}
    </div>
  </details>`;
}

/** The title above the message of an error. An error that the plugin threw has no code worth showing. */
export const errorTitle = (code: string | undefined): string =>
  code && code !== 'plugin-error' ? texts().result.errorCode(code) : texts().result.error;

/** A part of a stack trace: plain text, or a place in the plugin's source. */
export type TracePart = string | { text: string; line: number; column: number };

// A frame of a stack, as the sandbox writes it: `at run (plugin.ts:3:11)`, `at plugin.js:3:11`; in Python `File "plugin.py", line 3`.
const PLACE = /\bplugin\.(?:js|ts|mjs|mts|as):(\d{1,6}):(\d{1,6})|"plugin\.py", line (\d{1,6})/g;

/** Whether a text names a place in the source. */
export const namesPlace = (text: string): boolean => text.search(PLACE) >= 0;

/** Splits a text at the places in the source that it names. */
function readTrace(text: string): TracePart[] {
  const parts: TracePart[] = [];
  let end = 0;
  for (const match of text.matchAll(PLACE)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    parts.push({ text: match[0], line: Number(match[1] ?? match[3]), column: Number(match[2] ?? 1) });
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
