import { readdirSync, readFileSync } from 'node:fs';

/** A process and all that it has started, and those have started, by their numbers. Needs the `/proc` of Linux. */
export function processTree(pid: number): number[] {
  const tree = [pid];
  // The list grows while it is walked.
  for (const one of tree) tree.push(...childrenOf(one));
  return tree;
}

/** The processes that a process has started and that have not ended. */
export function childrenOf(pid: number): number[] {
  return readdirOrNone(`/proc/${pid}/task`).flatMap((task) =>
    readOrNone(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
  );
}

/** In MB (10⁶ bytes). */
export interface Memory {
  /** Each page that several processes share counts in each of them by its share. */
  proportional: number;
  /** Each page that several processes share counts in each of them. */
  resident: number;
}

/** The memory of a process and all its descendants, with that of each. */
export function memoryOf(pid: number): Memory & { each: Memory[] } {
  const each = processTree(pid).map((one) => {
    const rollup = readOrNone(`/proc/${one}/smaps_rollup`);
    const megabytes = (name: string) =>
      (Number(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(rollup)?.[1] ?? 0) * 1024) / 1e6;
    return { proportional: megabytes('Pss'), resident: megabytes('Rss') };
  });
  if (!each[0]?.resident) throw new Error(`/proc/${pid}/smaps_rollup cannot be read; this needs Linux.`);
  const sum = (of: (one: Memory) => number) => each.reduce((total, one) => total + of(one), 0);
  return { proportional: sum((one) => one.proportional), resident: sum((one) => one.resident), each };
}

/** How much processor time a process and its descendants, those that have ended included, have used, in ms. */
export function processorTimeOf(pid: number): number {
  const ticks = processTree(pid).flatMap((one) => {
    // The name in parentheses may hold spaces.
    const fields = readOrNone(`/proc/${one}/stat`).split(') ').at(-1)?.split(' ') ?? [];
    // User and system time of the process itself, then of its children that it has waited for.
    return fields.slice(11, 15).map(Number);
  });
  // Linux counts in hundredths of a second towards programs, whatever it does within.
  return ticks.reduce((total, one) => total + one, 0) * 10;
}

/** How much processor time a process itself has used, in ms. */
export function ownProcessorTimeOf(pid: number): number {
  const fields = readOrNone(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10;
}

/** Ends a process and all its descendants at once. */
export function killTree(pid: number): void {
  for (const one of processTree(pid)) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

// A process may end between the moment it was listed and the one it is looked at.
function readOrNone(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function readdirOrNone(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
