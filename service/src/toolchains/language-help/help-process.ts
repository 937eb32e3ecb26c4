import { moduleUrl } from '../../processes/module-url.ts';
import { ToolProcess } from '../process/tool-process.ts';
import { compilerCommand } from '../types/native-compiler.ts';
import { decodeOutcome } from './help-protocol.ts';
import type { HelpJob, HelpOutcome } from './help-protocol.ts';
import { helpLimits } from './limits.ts';

/** After how many jobs the memory of the process is checked. */
const jobsPerMemoryCheck = 20;

/** A process of language help. It does one job at a time, and each job is independent of those before it. */
export class HelpProcess extends ToolProcess {
  readonly #time: number;
  #jobsDone = 0;

  /** `time`: how long one job may take, in ms. */
  constructor(time: number = helpLimits.time) {
    super({
      file: moduleUrl('./help-main', import.meta.url),
      packages: ['zod'],
      helper: { command: compilerCommand(), args: ['--lsp', '--stdio'] },
      memory: helpLimits.memory,
      replyLimit: helpLimits.reply,
      labels: { tool: 'Language help', job: 'Language help' },
    });
    this.#time = time;
  }

  /** Does a job, once the process is warm. */
  async doJob(job: HelpJob): Promise<HelpOutcome> {
    const decode = (reply: string) => decodeOutcome(reply, job.request.method);
    const outcome = await this.request(JSON.stringify(job), this.#time, decode);
    this.#jobsDone += 1;
    const isLarge = this.#jobsDone % jobsPerMemoryCheck === 0 && this.memory > helpLimits.recycleAt;
    // A language server that failed may be in an unusable state.
    if (isLarge || 'failed' in outcome) this.close();
    return outcome;
  }
}
