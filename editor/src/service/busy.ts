import { HttpError } from 'plugin-editor/client.js';

/** How often a request is tried while the service says that it is busy. */
const MAX_TRIES = 6;
/** The wait for a service that does not say for how long, and the longest that is waited for, in ms. */
const DEFAULT_WAIT = 1000;
const MAX_WAIT = 30_000;

export interface BusyOptions {
  signal: AbortSignal;
  /** Called before each wait, with its length in ms. */
  onBusy?: ((wait: number) => void) | undefined;
}

/**
 * Tries a step again while the service is busy (429, 503), after the wait that it asks for. Such a response says that
 * nothing was done, so no step happens twice. Any other error, and the last refusal, is thrown on.
 */
export async function whileBusy<T>(step: () => Promise<T>, { signal, onBusy }: BusyOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await step();
    } catch (error) {
      const wait = busyWait(error);
      if (wait === undefined || wait > MAX_WAIT || attempt === MAX_TRIES) throw error;
      onBusy?.(wait);
      await pause(wait, signal);
    }
  }
}

/** How long the service asks to wait, in ms; `undefined` when it is not busy. */
function busyWait(error: unknown): number | undefined {
  if (!(error instanceof HttpError) || (error.status !== 503 && error.status !== 429)) return undefined;
  return error.retryAfter ?? DEFAULT_WAIT;
}

/** Waits, and rejects with the signal's reason when that aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
  signal.throwIfAborted();
}
