import { dateFormat, formatDateTime, formatNumber, numberFormat } from './formats.ts';

// The formats of runs. They are not part of the first load: they come with the panels.

/** A duration that is given in ms: `3.2 ms`, `12 ms`, `1.2 s`. */
export function formatDuration(ms: number): string {
  const fine = numberFormat('fine', { maximumFractionDigits: 1 });
  if (ms >= 1000) return `${fine.format(ms / 1000)} s`;
  return `${ms < 10 ? fine.format(ms) : formatNumber(ms)} ms`;
}

/** Date and time of day; for today the time alone, with seconds. */
export function formatRecent(date: Date, now = new Date()): string {
  if (date.toDateString() !== now.toDateString()) return formatDateTime(date);
  return dateFormat('second', { timeStyle: 'medium' }).format(date);
}

/** Date and time of day with seconds. */
export const formatMoment = (date: Date): string =>
  dateFormat('moment', { dateStyle: 'medium', timeStyle: 'medium' }).format(date);
