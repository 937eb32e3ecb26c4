/** How long is waited, in ms. It is long for the sake of busy machines; what holds at once costs nothing. */
const PATIENCE = 120_000;

/** How often is looked, in ms. */
const INTERVAL = 10;

/**
 * Waits until a condition holds that no event tells of, in Node and in browsers.
 * @param what what is awaited, for the error after two minutes
 */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(condition, (holds) => holds, what);
}

/** Waits until a value fits, and returns it; the error after two minutes has the last value. */
export async function eventually<T>(
  read: () => T | Promise<T>,
  fits: (value: T) => boolean,
  what = 'a value that fits',
): Promise<T> {
  for (const deadline = performance.now() + PATIENCE; ;) {
    const value = await read();
    if (fits(value)) return value;
    if (performance.now() > deadline) {
      throw new Error(`Waited in vain for ${what}; the last value was ${JSON.stringify(value)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
}
