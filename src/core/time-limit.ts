/**
 * Runs work that must end within `timeout` ms or when `signal` aborts, whichever comes first, even when the work itself
 * pays no heed to the signal it is given. Leaves no timer behind.
 * @throws what `late` makes, when time is up; the signal's reason, when aborted; else what the work throws.
 */
export async function withTimeLimit<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timeout: number,
  late: () => Error,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  const limit = new AbortController();
  const either = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
  const timer = setTimeout(() => limit.abort(), timeout);
  try {
    return await Promise.race([
      work(either),
      new Promise<never>((_, reject) => either.addEventListener('abort', reject, { once: true })),
    ]);
  } catch (error) {
    signal?.throwIfAborted();
    throw limit.signal.aborted ? late() : error;
  } finally {
    clearTimeout(timer);
    // An answer that nobody reads to its end would keep its connection.
    limit.abort();
  }
}
