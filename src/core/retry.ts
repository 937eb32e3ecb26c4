/** Statuses after which the same request may well succeed. */
const PASSING = [408, 429, 500, 502, 503, 504];

/** The longest delay that is worth waiting for, in ms. */
const MAX_DELAY = 30_000;

/** The first wait, in ms; each further one is twice as long. */
const BASE_DELAY = 300;

/** What became of one try. No `status` means that there was no connection. */
export interface Outcome {
  /** The try that just ended, counted from 1. */
  attempt: number;
  /** How many tries there may be in all. */
  tries: number;
  status?: number | undefined;
  /** How long the answer asked to wait, in ms. */
  retryAfter?: number | undefined;
}

/**
 * How long to wait before the next try, in ms, or `undefined` to stop. `random` is from 0 to 1: without that jitter all
 * the pages that one outage hit would come back in the same instant.
 */
export function retryDelay(
  { attempt, tries, status, retryAfter }: Outcome,
  random: number,
): number | undefined {
  if (!(attempt < tries) || (status !== undefined && !PASSING.includes(status))) return undefined;
  if (retryAfter !== undefined) return retryAfter > MAX_DELAY ? undefined : retryAfter;
  return Math.min(BASE_DELAY * 2 ** (attempt - 1), MAX_DELAY) * (0.5 + random / 2);
}

/**
 * A `Retry-After` header as ms from now: seconds, or a date, which is taken relative to the answer's own `Date` where
 * that can be read, as the local clock may be hours off. `undefined` when it is neither.
 */
export function parseRetryAfter(header: string | null, date: string | null, now: number): number | undefined {
  if (!header) return undefined;
  if (/^\d+$/.test(header)) return +header * 1000;
  // `Date.parse` accepts nearly anything, such as '1.5' and '-1'. Dates of HTTP end with GMT.
  const wait = header.endsWith('GMT') ? Date.parse(header) - (Date.parse(date ?? '') || now) : NaN;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
