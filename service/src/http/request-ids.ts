import { v7 as createUuid } from 'uuid';

/**
 * Makes the ids of requests: UUIDv7 by the service's clock, each greater than the one before, so that records of runs sort
 * by them and say by them when the run was asked for.
 */
export function createRequestIds(now: () => number): () => string {
  let time = -Infinity;
  let sequence = 0;
  return () => {
    const current = now();
    if (current > time) {
      time = current;
      // Half of its range is left to count up in.
      sequence = Math.floor(Math.random() * 2 ** 31);
    } else if (++sequence === 2 ** 32) {
      time += 1;
      sequence = 0;
    }
    return createUuid({ msecs: time, seq: sequence });
  };
}
