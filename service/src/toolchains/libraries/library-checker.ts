import { moduleUrl } from '../../processes/module-url.ts';
import { FairQueue } from '../../processes/fair-queue.ts';
import { ProcessPool } from '../../processes/process-pool.ts';
import { mebibyte } from '../../units.ts';
import { buildLimits, checkerQueueLimits } from '../build/limits.ts';
import { ToolProcess } from '../process/tool-process.ts';
import { decodeOutcome, replyLimit } from './library-protocol.ts';
import type { LibraryJob, LibraryOutcome } from './library-protocol.ts';

/** Bytes of memory. */
const memory = 384 * mebibyte;

/** A process of the library checker. It checks one library at a time. */
class LibraryProcess extends ToolProcess {
  constructor() {
    super({
      file: moduleUrl('./library-main', import.meta.url),
      packages: ['oxc-parser', 'quickjs-wasi', 'lru-cache', 'zod'],
      needs: ['addons'],
      memory,
      replyLimit,
      labels: { tool: 'The checker of libraries', job: 'Checking the library' },
    });
  }

  check(job: LibraryJob): Promise<LibraryOutcome> {
    return this.request(JSON.stringify(job), buildLimits.time, decodeOutcome);
  }
}

/** Finds what libraries export, and whether plugins can import them, in separate processes. The first job starts a process. */
export class LibraryChecker {
  readonly #pool = new ProcessPool(() => new LibraryProcess());
  readonly #queue = new FairQueue(checkerQueueLimits);

  /**
   * Checks a library. Rejects with a `BusyError` when too many jobs are waiting, with the signal's reason when that is aborted, and
   * where no process comes up.
   */
  async check(job: LibraryJob, environment: string, signal: AbortSignal): Promise<LibraryOutcome> {
    return this.#pool.use(
      this.#queue.acquire({ environment, tenant: '', token: '' }, () => signal),
      (process) => {
        signal.throwIfAborted();
        return process.check(job);
      },
    );
  }

  close(): void {
    this.#pool.close();
  }
}
