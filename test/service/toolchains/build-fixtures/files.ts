import { fileURLToPath } from 'node:url';

/** What a process must be permitted to read to work with `probe.ts`: this folder, and the source that it imports. */
export const probeFiles: readonly string[] = [
  import.meta.dirname,
  fileURLToPath(new URL('../../../../service/src/processes/frames.ts', import.meta.url)),
];
