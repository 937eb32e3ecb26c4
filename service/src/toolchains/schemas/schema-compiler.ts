import { moduleUrl } from '../../processes/module-url.ts';
import { FairQueue } from '../../processes/fair-queue.ts';
import type { Share } from '../../processes/fair-queue.ts';
import { checkTime } from '../build/limits.ts';
import { ToolPool } from '../process/tool-pool.ts';
import { ToolProcess } from '../process/tool-process.ts';
import { replyLimit, decodeOutcome } from './schema-protocol.ts';
import type { SchemaOutcome, SchemaJob } from './schema-protocol.ts';

/** Bytes of memory. */
const memory = 256 * 2 ** 20;

const queueLimits = {
  slots: 2,
  slotsPerEnvironment: 1,
  slotsPerTenant: 1,
  waiting: 64,
  waitingPerEnvironment: 16,
  waitingPerTenant: 16,
  waitingPerToken: 16,
};

/** A process that makes types and checks of schemas: of one pair at a time, and is gone after one that had to be ended. */
export class SchemaProcess {
  readonly #tool = new ToolProcess({
    file: moduleUrl('./schema-main', import.meta.url),
    memory,
    replyLimit,
    labels: { tool: 'The compiler of schemas', job: 'Compiling the schemas' },
  });

  get isUsable(): boolean {
    return this.#tool.isUsable;
  }

  get pids(): readonly number[] {
    return this.#tool.pids;
  }

  get ready(): Promise<void> {
    return this.#tool.ready;
  }

  /** `time`: the limit of time, in ms. */
  async compile(job: SchemaJob, time: number): Promise<SchemaOutcome> {
    await this.#tool.ready;
    const answered = await this.#tool.doJob(JSON.stringify(job), time);
    if ('failed' in answered) return answered;
    try {
      return decodeOutcome(answered.reply);
    } catch {
      return { failed: this.#tool.rejectReply() };
    }
  }

  close(): void {
    this.#tool.close();
  }
}

/** What makes types and checks of schemas, in processes of its own. One is started with the first work. */
export class SchemaCompiler {
  readonly #pool: ToolPool<SchemaProcess>;
  readonly #queue = new FairQueue(queueLimits);
  readonly #time: number;

  /** `time`: what one pair of schemas may take, in ms (default: as long as a check of a source). */
  constructor(time = checkTime, start = () => new SchemaProcess()) {
    this.#time = time;
    this.#pool = new ToolPool(start);
  }

  /** Throws a `BusyError` at once when too much is waiting; rejects with the signal's reason when it is withdrawn. */
  async compile(job: SchemaJob, share: Share, signal: AbortSignal): Promise<SchemaOutcome> {
    const release = await this.#queue.acquire(share, () => signal);
    try {
      // Where none comes up, that is a fault of this machine and none of the schemas.
      const process = await this.#pool.take();
      try {
        signal.throwIfAborted();
        return await process.compile(job, this.#time);
      } finally {
        this.#pool.giveBack(process);
      }
    } finally {
      release();
    }
  }

  close(): void {
    this.#pool.close();
  }
}
