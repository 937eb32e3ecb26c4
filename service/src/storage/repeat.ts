import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats what failed with such an error, three times at most. */
export async function repeatWhile<T>(
  canRepeat: (error: unknown) => boolean,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let left = 3; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (left === 0 || !canRepeat(error)) throw error;
    }
    // A random time, so that two that wait for each other's locks do not collide again and again.
    await sleep(2 + Math.random() * 20);
  }
}
