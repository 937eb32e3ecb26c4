import { moduleUrl } from '../../processes/module-url.ts';
import { FairQueue } from '../../processes/fair-queue.ts';
import type { QueueOwner } from '../../processes/fair-queue.ts';
import { checkTime, checkerQueueLimits } from '../build/limits.ts';
import { ToolProcess } from '../process/tool-process.ts';
import { ProcessPool } from '../../processes/process-pool.ts';
import { replyLimit, decodeOutcome } from './schema-protocol.ts';
import type { SchemaOutcome, SchemaJob } from './schema-protocol.ts';
import { mebibyte } from '../../units.ts';

/** Bytes of memory. */
const memory = 256 * mebibyte;

/** A process of the schema compiler. It compiles one pair of schemas at a time. */
class SchemaProcess extends ToolProcess {
  constructor() {
    super({
      file: moduleUrl('./schema-main', import.meta.url),
      packages: ['@exodus/schemasafe', 'zod'],
      memory,
      replyLimit,
      labels: { tool: 'The compiler of schemas', job: 'Compiling the schemas' },
    });
  }

  /** Compiles a pair of schemas, once the process is warm. `time`: the limit of time, in ms. */
  async compile(job: SchemaJob, time: number): Promise<SchemaOutcome> {
    const outcome = await this.request(JSON.stringify(job), time, decodeOutcome);
    return 'failed' in outcome ? { patterns: [], warnings: [], result: outcome } : outcome;
  }
}

/** Compiles pairs of schemas to TypeScript declarations and checks, in separate processes. The first job starts a process. */
export class SchemaCompiler {
  readonly #pool = new ProcessPool(() => new SchemaProcess());
  readonly #queue = new FairQueue(checkerQueueLimits);
  readonly #time: number;

  /** `time`: how long one pair of schemas may take, in ms (default: as long as the check of a source, which is 5 s). */
  constructor(time = checkTime) {
    this.#time = time;
  }

  /**
   * Compiles a pair of schemas. Rejects with a `BusyError` when too many jobs are waiting, with the signal's reason when that is
   * aborted, and where no process comes up.
   */
  async compile(job: SchemaJob, owner: QueueOwner, signal: AbortSignal): Promise<SchemaOutcome> {
    // Without `onBroken`, because a process that does not come up is a defect of this machine and not of the schemas.
    return this.#pool.use(
      this.#queue.acquire(owner, () => signal),
      (process) => {
        signal.throwIfAborted();
        return process.compile(job, this.#time);
      },
    );
  }

  close(): void {
    this.#pool.close();
  }
}
