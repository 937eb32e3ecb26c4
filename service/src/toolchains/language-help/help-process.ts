import { moduleUrl } from '../../processes/module-url.ts';
import { ToolClient } from '../process/tool-client.ts';
import { compilerCommand } from '../types/native-compiler.ts';
import { decodeOutcome } from './help-protocol.ts';
import type { HelpOutcome, HelpJob } from './help-protocol.ts';
import { helpLimits } from './limits.ts';

export interface HelpProcessOptions {
  /** Milliseconds for one request. */
  readonly time?: number;
  /** Bytes of memory, of the process and the native language server together. */
  readonly memory?: number;
}

/** How many requests are answered between two looks at the memory that the process holds. */
const jobsPerMemoryCheck = 20;

/**
 * A process of language help: answers one question at a time, and is gone after one that had to be ended. Nothing of a question
 * is needed for the next.
 */
export class HelpProcess extends ToolClient {
  readonly #time: number;
  readonly #recycleAt: number;
  #jobsDone = 0;

  constructor({ time = helpLimits.time, memory = helpLimits.memory }: HelpProcessOptions = {}) {
    super({
      file: moduleUrl('./help-main', import.meta.url),
      helper: { command: compilerCommand(), args: ['--lsp', '--stdio'] },
      memory,
      replyLimit: helpLimits.reply,
      labels: { tool: 'Language help', job: 'Language help' },
    });
    this.#time = time;
    this.#recycleAt = Math.min(helpLimits.recycleAt, memory);
  }

  /** Answers a question, once the process is warm. */
  async doJob(job: HelpJob): Promise<HelpOutcome> {
    await this.tool.ready;
    const answered = await this.tool.doJob(JSON.stringify(job), this.#time);
    if ('failed' in answered) return answered;
    this.#jobsDone += 1;
    if (this.#jobsDone % jobsPerMemoryCheck === 0 && this.tool.memory > this.#recycleAt) this.close();
    try {
      const outcome = decodeOutcome(answered.reply, job.request.method);
      // A language server that failed may be in no state to go on.
      if ('failed' in outcome) this.close();
      return outcome;
    } catch {
      return { failed: this.tool.rejectReply() };
    }
  }
}
