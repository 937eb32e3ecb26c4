import { readFileSync } from 'node:fs';

/**
 * The resident memory of a process in bytes. 0 on systems other than Linux, where it cannot be read: there only the limit of the
 * process's heap holds.
 */
export function residentMemory(pid: number | undefined): number {
  if (pid === undefined || process.platform !== 'linux') return 0;
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`)) ?? [];
  return Number(kibibytes ?? 0) * 1024;
}

/** The id of a process's only child; `undefined` where it has none, or several. */
export function onlyChildOf(pid: number): number | undefined {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean);
  return children.length === 1 ? Number(children[0]) : undefined;
}

/** Reads a file of the process; empty when the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
