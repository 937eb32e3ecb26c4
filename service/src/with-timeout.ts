/** Settles as the promise, or after `time` ms as `onTimeout` does. The work behind the promise goes on. */
export async function withTimeout<T, Late>(
  promise: Promise<T>,
  time: number,
  onTimeout: () => Late,
): Promise<T | Late> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, time);
  try {
    return await Promise.race([promise, late.promise.then(onTimeout)]);
  } finally {
    clearTimeout(timer);
  }
}
