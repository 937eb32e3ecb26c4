import { moduleUrl } from '../../processes/module-url.ts';
import { errorMessage } from '../../error-message.ts';
import type { LoadedLanguage } from '../languages.ts';
import { ToolProcess } from '../process/tool-process.ts';
import { textTypes } from '../types/declarations.ts';
import type { PluginTypes } from '../types/declarations.ts';
import { encodeJob } from './compiler-protocol.ts';
import { decodeOutcome } from './compiler-outcome.ts';
import { buildLimits, messageLimit } from './limits.ts';
import type { BuildOutcome, BuildLimits } from './limits.ts';

// A compiler that holds more than this part of its memory limit after a build, with the native program that it works with, is
// replaced, so that the next build has enough.
const recycleAt = 0.7;

export interface CompilerOptions {
  readonly limits?: BuildLimits;
  /** Files and folders beyond the service's own code that it may read. */
  readonly readable?: readonly string[];
}

/** The process of a language's compiler. It compiles one source at a time, and cannot be used again once a build met a limit. */
export class CompilerProcess extends ToolProcess {
  readonly #limits: BuildLimits;

  constructor(language: LoadedLanguage, { limits = buildLimits, readable = [] }: CompilerOptions = {}) {
    super({
      file: moduleUrl('./compiler-main', import.meta.url),
      args: [language.module.href],
      packages: language.packages,
      readable,
      needs: language.needs,
      nodeOptions: language.engineOptions ?? [],
      helper: language.helper?.(),
      memory: limits.memory,
      replyLimit: messageLimit,
      labels: { tool: 'The compiler', job: 'The build' },
    });
    this.#limits = limits;
  }

  /**
   * Compiles a source, once the compiler is warm. The limits begin to count only then.
   * @param options.time the limit of this build's time, in ms
   * @param options.types the types of the input and output of `run` (default: text)
   */
  async build(
    source: string,
    {
      time = this.#limits.time,
      types = textTypes,
    }: { readonly time?: number; readonly types?: PluginTypes | undefined } = {},
  ): Promise<BuildOutcome> {
    try {
      await this.ready;
    } catch (error) {
      return toolchainFailure(error);
    }
    const outcome = await this.request(encodeJob({ source, types }), time, decodeOutcome);
    // A compiler that failed may be in an unusable state, or may have lost its native program.
    if ('failed' in outcome || this.memory > recycleAt * this.#limits.memory) this.close();
    return outcome;
  }
}

/** The outcome of a build whose compiler does not come up. */
export const toolchainFailure = (error: unknown): BuildOutcome => {
  const failed = `The toolchain does not work on this machine: the compiler ${errorMessage(error)}`;
  return { failed, defect: failed };
};
