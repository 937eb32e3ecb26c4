import { localeTag } from './locale.ts';

type NumberOptions = Intl.NumberFormatOptions;
type DateOptions = Intl.DateTimeFormatOptions;

// To create a format takes much longer than to use it.
const cache = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>();

function cached<T extends Intl.NumberFormat | Intl.DateTimeFormat>(key: string, make: (tag: string) => T): T {
  const tag = localeTag();
  const full = `${tag} ${key}`;
  const format = (cache.get(full) as T | undefined) ?? make(tag);
  cache.set(full, format);
  return format;
}

/** A format of numbers in the present language. Each key stands for one set of options. */
const numberFormat = (key: string, options: NumberOptions) =>
  cached(key, (tag) => new Intl.NumberFormat(tag, options));
/** A format of dates in the present language. Each key stands for one set of options. */
const dateFormat = (key: string, options: DateOptions) =>
  cached(key, (tag) => new Intl.DateTimeFormat(tag, options));

/** A whole number: `1,234`. */
export const formatNumber = (value: number): string =>
  numberFormat('whole', { maximumFractionDigits: 0 }).format(value);

/** A share of 1: `12.5 %`. */
export const formatPercent = (share: number): string =>
  numberFormat('percent', { style: 'percent', maximumFractionDigits: 1 }).format(share);

/** The time of day: `09:05`. */
export const formatTime = (date: Date): string =>
  dateFormat('time', { hour: '2-digit', minute: '2-digit' }).format(date);

/** Date and time of day. */
export const formatDateTime = (date: Date): string =>
  dateFormat('date', { dateStyle: 'medium', timeStyle: 'short' }).format(date);

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
