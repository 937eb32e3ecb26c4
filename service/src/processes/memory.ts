import { readFileSync } from 'node:fs';

/**
 * The resident memory of a process and its children, in bytes. 0 on systems other than Linux, where it cannot be read: there only
 * the limit of the process's heap holds.
 */
export function residentMemory(pid: number | undefined): number {
  if (pid === undefined || process.platform !== 'linux') return 0;
  return [pid, ...childrenOf(pid)].reduce((sum, one) => sum + resident(one), 0);
}

function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

function resident(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`)) ?? [];
  return Number(kibibytes ?? 0) * 1024;
}

/** Reads a file of the process; empty when the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
