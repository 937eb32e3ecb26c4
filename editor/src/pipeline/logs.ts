import { type TemplateResult, html } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { traceLines } from './trace.ts';

export type LogLevel = 'log' | 'info' | 'debug' | 'warn' | 'error';

export interface LogEntry {
  level: LogLevel;
  text: string;
}

/** More entries are not shown at once. */
const MOST = 500;

/** The sandbox writes the level of an entry before its text; a plain `console.log` has none. */
export function readLogEntry(entry: string): LogEntry {
  const [mark = '', level] = /^\[(info|debug|warn|error)\] /.exec(entry) ?? [];
  return level ? { level: level as LogLevel, text: entry.slice(mark.length) } : { level: 'log', text: entry };
}

/** What a run logged, by level; places in the source lead there. */
export function logsView(
  entries: readonly string[],
  onJump?: (line: number, column: number) => void,
): TemplateResult {
  const { result } = texts();
  const shown = entries.slice(0, MOST).map(readLogEntry);
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
