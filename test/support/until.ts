/**
 * How long is waited, in ms: long for the sake of busy machines, and in a browser less than a test may take, so that its
 * error says what was awaited.
 */
export const PATIENCE = 'document' in globalThis ? 50_000 : 120_000;

/** The shortest and the longest pause before a condition is looked at again, in ms. */
const [SHORTEST, LONGEST] = [10, 100];

// A test may replace clock and timers.
const now = performance.now.bind(performance);
const { setTimeout } = globalThis;

/**
 * Waits until a condition holds that no event tells of, in Node and in browsers.
 * @param what what is awaited, for the error when it never holds
 */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(condition, (holds) => holds, what);
}

/** Waits until a value fits, and returns it; the error, when none ever does, has the last one. */
export async function eventually<T>(
  read: () => T | Promise<T>,
  fits: (value: T) => boolean,
  what = 'a value that fits',
): Promise<T> {
  for (const start = now(); ;) {
    const value = await read();
    if (fits(value)) return value;
    const waited = now() - start;
    if (waited > PATIENCE) {
      throw new Error(`Waited in vain for ${what}; the last value was ${JSON.stringify(value)}`);
    }
    // A tenth of the time so far, so that looking does not slow what is awaited.
    const pause = Math.min(LONGEST, Math.max(SHORTEST, waited / 10));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
