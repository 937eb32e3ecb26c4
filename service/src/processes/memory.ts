import { readFileSync } from 'node:fs';

/**
 * Bytes of the machine's memory that a process and its children hold. 0 where the system does not tell (other than
 * Linux): there the limit of the process's heap alone holds.
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

/** Nothing when the process has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
