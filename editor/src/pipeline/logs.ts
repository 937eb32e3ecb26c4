import { type TemplateResult, html } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { traceLines } from './trace.ts';

export type LogLevel = 'log' | 'info' | 'debug' | 'warn' | 'error';

export interface LogEntry {
  level: LogLevel;
  text: string;
}

/** The most entries that are shown. */
const MAX_ENTRIES = 500;

/** Parses a log entry: the sandbox puts the level before the text, but none for `console.log`. */
export function readLogEntry(entry: string): LogEntry {
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
