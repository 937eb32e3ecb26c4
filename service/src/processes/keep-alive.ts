import type { ChildProcess } from 'node:child_process';

interface Referable {
  ref(): void;
  unref(): void;
}

/**
 * Sets whether a child process and its pipes keep this process running. A child that waits for a job must not, or the service
 * could not end by itself.
 */
export function setKeepsAlive(child: ChildProcess, keepsAlive: boolean): void {
  const method = keepsAlive ? 'ref' : 'unref';
  child[method]();
  for (const stream of child.stdio) {
    if (!stream?.destroyed) (stream as Partial<Referable> | null)?.[method]?.();
  }
}
