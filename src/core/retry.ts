/** The HTTP statuses after which the same request may well succeed. */
const TRANSIENT = [408, 429, 500, 502, 503, 504];

/** The longest wait, in ms. After a response that asks for a longer one the request is not tried again. */
const MAX_DELAY = 30_000;

/** The first wait, in ms; each further one is twice as long. */
const BASE_DELAY = 300;

/** A try that failed. */
export interface FailedTry {
  /** The try that just ended, counted from 1. */
  attempt: number;
  /** How many tries there may be in all. */
  tries: number;
  /** The HTTP status; `undefined` where there was no connection. */
  status?: number | undefined;
  /** How long the response asked to wait, in ms. */
  retryAfter?: number | undefined;
}

/**
 * How long to wait before the next try, in ms; `undefined` when the request is not to be tried again.
 * @param random from 0 to 1: without this jitter all pages that one outage hit would send again at the same moment
 */
export function retryDelay(
  { attempt, tries, status, retryAfter }: FailedTry,
  random: number,
): number | undefined {
  if (!(attempt < tries) || (status !== undefined && !TRANSIENT.includes(status))) return undefined;
  if (retryAfter !== undefined) return retryAfter > MAX_DELAY ? undefined : retryAfter;
  return Math.min(BASE_DELAY * 2 ** (attempt - 1), MAX_DELAY) * (0.5 + random / 2);
}

/**
 * Reads a `Retry-After` header as ms from now: seconds, or a date. `undefined` when it is neither.
 * @param date the `Date` of the same response, where it can be read. The other date is relative to it, because the local
 * clock may be hours off
 * @param now the local wall clock, in ms
 */
export function parseRetryAfter(header: string | null, date: string | null, now: number): number | undefined {
  if (!header) return undefined;
  if (/^\d+$/.test(header)) return +header * 1000;
  // `Date.parse` accepts nearly anything, such as '1.5' and '-1'. Dates of HTTP end with GMT.
  const wait = header.endsWith('GMT') ? Date.parse(header) - (Date.parse(date ?? '') || now) : NaN;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
