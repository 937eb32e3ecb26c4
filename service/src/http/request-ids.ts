import { v7 as createUuid } from 'uuid';
import { takeRandomBytes } from '../random-pool.ts';

/**
 * Makes the ids of requests: UUIDs of version 7, each greater than the one before, so that records of runs can be sorted by their
 * ids, and need no other field for the time at which the run was requested.
 */
export function createRequestIds(now: () => number): () => string {
  let time = -Infinity;
  let sequence = 0;
  return () => {
    const current = now();
    if (current > time) {
      time = current;
      // Starts in the lower half of its range, to leave room for counting up.
      sequence = Math.floor(Math.random() * 2 ** 31);
    } else if (++sequence === 2 ** 32) {
      time += 1;
      sequence = 0;
    }
    return createUuid({ msecs: time, seq: sequence, random: takeRandomBytes(16) });
  };
}
