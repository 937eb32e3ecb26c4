const second = 1000;

/** A process that lived for so long has ended by chance, and not because it cannot work. */
const soundAfter = 60 * second;

const longestDelay = 30 * second;

/**
 * How long to wait before a process is started in place of one that has ended, in ms: at first not at all, and longer each time
 * where one after the other ends soon.
 * @param lived how long the one that has ended lived, in ms
 * @param former the delay before that one; `undefined` for the first
 */
export function restartDelay(lived: number, former: number | undefined): number {
  if (lived >= soundAfter || former === undefined) return 0;
  return Math.min(longestDelay, Math.max(second, former * 2));
}
