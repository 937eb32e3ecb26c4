import { TimeoutError } from './errors.ts';

/**
 * Runs work that must end within `timeout` ms or when `signal` aborts, whichever comes first, even when the work itself
 * ignores its signal. Leaves neither timer nor listener behind.
 * @param label what the error says did not answer
 * @throws TimeoutError, when time is up; the signal's reason, when aborted; else what the work throws.
 */
export async function withTimeLimit<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timeout: number,
  label: string,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  const limit = new AbortController();
  const either = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
  let handleAbort: (event: Event) => void = () => {};
  const aborted = new Promise<never>((_, reject) => (handleAbort = reject));
  // Added before the work begins, because that may abort before it returns.
  either.addEventListener('abort', handleAbort);
  // A timer with a longer delay would fire at once.
  const timer = setTimeout(() => limit.abort(), Math.min(timeout, 2 ** 31 - 1));
  try {
    return await Promise.race([aborted, work(either)]);
  } catch (error) {
    const isLate = limit.signal.aborted;
    // This ends a request whose body would otherwise keep its connection open.
    limit.abort();
    signal?.throwIfAborted();
    throw isLate ? new TimeoutError(label, timeout) : error;
  } finally {
    clearTimeout(timer);
    // A caller's signal that lives on would keep it, and with it all that this call made.
    either.removeEventListener('abort', handleAbort);
  }
}

/** Waits, unless the signal ends the wait first; leaves neither timer nor listener. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  withTimeLimit<void>(() => new Promise(() => {}), ms, '', signal).catch(() => signal?.throwIfAborted());
