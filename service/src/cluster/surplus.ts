/** What a process has had to do for a while. */
export interface Pulse {
  /** How many of its connections have had requests. */
  readonly connections: number;
  /** The part of the time in which its event loop was busy, from 0 to 1. */
  readonly utilization: number;
}

/** A process that is less busy answers no sooner with fewer connections. */
const busy = 0.5;

/**
 * How many connections each process should give up. The system spreads them by chance, which is uneven where they are few: a busy
 * process with clearly more than the mean gives up what it has above it.
 */
export function surplusOf(pulses: readonly Pulse[]): number[] {
  const mean = pulses.reduce((sum, { connections }) => sum + connections, 0) / pulses.length;
  return pulses.map(({ connections, utilization }) =>
    utilization > busy && connections > mean + 1 + mean / 8 ? Math.ceil(connections - mean) : 0,
  );
}
