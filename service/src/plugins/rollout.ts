import { createHash } from 'node:crypto';

/** Which share of a plugin's runs a rollout has. */
export interface RolloutShare {
  /** Counts the rollouts of the plugin. */
  readonly number: number;
  /** 1 to 99. */
  readonly percent: number;
}

/** When a rollout ends by itself. */
export interface RolloutStop {
  /** How many runs both sides must have. */
  readonly runs: number;
  /** By how much, from 0 to 1, the share of failures must be higher than that of what is live. */
  readonly failures: number;
}

/** The runs of one side of a rollout. */
export interface SideCounts {
  readonly runs: number;
  readonly failures: number;
}

const hashRange = 2 ** 32;

/**
 * Whether a run gets the version that is rolled out. The same key always does so for a percentage and all greater ones.
 * @param salt makes the keys of a share differ between rollouts
 */
export function isInShare(percent: number, salt: string, key: string): boolean {
  const hash = createHash('sha256')
    .update(JSON.stringify([salt, key]))
    .digest();
  return hash.readUInt32BE(0) * 100 < percent * hashRange;
}

/** The key of a run: what the caller sends, percent-decoded where it can be, else the id of the request. */
export function rolloutKey(header: string | undefined, requestId: string): string {
  if (!header) return requestId;
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}

/** Keeps differences such as 0.3 - 0.2 from being less than 0.1. */
const rounding = 1e-9;

/** Whether a rollout is to end, because the share of failures is too high. */
export function isToStop(stop: RolloutStop, candidate: SideCounts, live: SideCounts): boolean {
  if (candidate.runs < stop.runs || live.runs < stop.runs) return false;
  const more = shareOf(candidate) - shareOf(live);
  return more > 0 && more >= stop.failures - rounding;
}

const shareOf = ({ runs, failures }: SideCounts): number => (runs === 0 ? 0 : failures / runs);
