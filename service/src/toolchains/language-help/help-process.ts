import { moduleUrl } from '../../processes/module-url.ts';
import { ToolProcess } from '../process/tool-process.ts';
import { compilerCommand } from '../types/native-compiler.ts';
import { decodeOutcome } from './help-protocol.ts';
import type { HelpJob, HelpOutcome } from './help-protocol.ts';
import { helpLimits } from './limits.ts';

export interface HelpProcessOptions {
  /** The limit of one job's time, in ms. */
  readonly time?: number;
  /** Bytes of memory, of the process and the native language server together. */
  readonly memory?: number;
}

/** After how many jobs the memory of the process is checked. */
const jobsPerMemoryCheck = 20;

/** A process of language help. It does one job at a time, and each job is independent of those before it. */
export class HelpProcess extends ToolProcess {
  readonly #time: number;
  readonly #recycleAt: number;
  #jobsDone = 0;

  constructor({ time = helpLimits.time, memory = helpLimits.memory }: HelpProcessOptions = {}) {
    super({
      file: moduleUrl('./help-main', import.meta.url),
      packages: ['zod'],
      helper: { command: compilerCommand(), args: ['--lsp', '--stdio'] },
      memory,
      replyLimit: helpLimits.reply,
      labels: { tool: 'Language help', job: 'Language help' },
    });
    this.#time = time;
    this.#recycleAt = Math.min(helpLimits.recycleAt, memory);
  }

  /** Does a job, once the process is warm. */
  async doJob(job: HelpJob): Promise<HelpOutcome> {
    const decode = (reply: string) => decodeOutcome(reply, job.request.method);
    const outcome = await this.request(JSON.stringify(job), this.#time, decode);
    this.#jobsDone += 1;
    const isLarge = this.#jobsDone % jobsPerMemoryCheck === 0 && this.memory > this.#recycleAt;
    // A language server that failed may be in an unusable state.
    if (isLarge || 'failed' in outcome) this.close();
    return outcome;
  }
}
