import { availableParallelism } from 'node:os';
import { partOf } from '../node-share.ts';
import type { NodeShare } from '../node-share.ts';
import { leastWaiting, maxProcesses } from './settings.ts';
import type { Settings } from './settings.ts';

/** How many processes are to answer requests: for `auto` one for two cores, and one where the database is a file. */
export function processCountOf({ processes, database }: Pick<Settings, 'processes' | 'database'>): number {
  if (processes !== 'auto') return processes;
  if (database.engine === 'sqlite') return 1;
  return Math.min(maxProcesses, Math.max(1, Math.floor(availableParallelism() / 2)));
}

/** The message for a number of processes that the other settings do not permit; `undefined` where they do. */
export function findProcessesProblem(
  settings: Pick<Settings, 'processes' | 'database' | 'pythonRunners' | 'waitingRuns' | 'waitingMb'>,
): string | undefined {
  const count = processCountOf(settings);
  if (count === 1) return undefined;
  if (settings.database.engine === 'sqlite') {
    return `PROCESSES is ${count}, and the database is an SQLite file; it must be 1, or DATABASE_URL a PostgreSQL database.`;
  }
  const divided = [
    ['PYTHON_RUNNERS', settings.pythonRunners ?? count, 1],
    ['WAITING_RUNS', settings.waitingRuns, leastWaiting.runs],
    ['WAITING_MB', settings.waitingMb, leastWaiting.mb],
  ] as const;
  for (const [variable, value, least] of divided) {
    if (value < least * count) {
      return `${variable} is ${value}, which ${count} processes share (PROCESSES); it must be at least ${least * count}.`;
    }
  }
  return undefined;
}

/** The settings of one of the node's processes: its parts of what is said of the node. */
export const settingsOfProcess = (settings: Settings, share: NodeShare): Settings => ({
  ...settings,
  pythonRunners: partOf(settings.pythonRunners ?? share.count, share),
  waitingRuns: partOf(settings.waitingRuns, share),
  waitingMb: partOf(settings.waitingMb, share),
});
