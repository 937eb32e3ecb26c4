import { HttpError } from '../../../src/core/errors.ts';

/** How often to try while a service says that it is busy. */
const TRIES = 6;
/** When a busy service does not say for how long, and what is too long to wait, in ms. */
const DEFAULT_WAIT = 1000;
const LONGEST_WAIT = 30_000;

export interface BusyOptions {
  signal: AbortSignal;
  /** Told before each wait, in ms. */
  onBusy?: ((wait: number) => void) | undefined;
}

/**
 * Tries a step again while the service is busy (429, 503), after the wait that it asks for. Such an answer says that
 * nothing was done, so that no step happens twice. What else the step throws is passed on, the last refusal too.
 */
export async function whileBusy<T>(step: () => Promise<T>, { signal, onBusy }: BusyOptions): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await step();
    } catch (error) {
      const wait = busyFor(error);
      if (wait === undefined || wait > LONGEST_WAIT || tries === TRIES) throw error;
      onBusy?.(wait);
      await pause(wait, signal);
    }
  }
}

/** How long the service asks to wait, in ms; `undefined` when it is not busy. */
export function busyFor(error: unknown): number | undefined {
  if (!(error instanceof HttpError) || (error.status !== 503 && error.status !== 429)) return undefined;
  return error.retryAfter ?? DEFAULT_WAIT;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}
