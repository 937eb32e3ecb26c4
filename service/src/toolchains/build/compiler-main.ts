import type { Language } from '../language.ts';
import { describeError, serveTool } from '../process/serve-tool.ts';
import { textTypes } from '../types/declarations.ts';
import { decodeJob, encodeOutcome, jobLimit } from './compiler-protocol.ts';
import type { BuildOutcome } from './limits.ts';
import { findTooDeepNesting } from './positions.ts';

/* The program of a compiler's process: compiles the sources that it is sent. */

await serveTool(async () => {
  const { default: language } = (await import(process.argv[2] ?? '')) as { default: Language };
  const compile = await language.loadCompiler();
  const trial = await compile(
    language.template({ pluginName: 'trial', namespace: 'trial' }).contents,
    textTypes,
  );
  if (!trial.program) throw new Error(trial.diagnostics.map(({ message }) => message).join('; '));
  return async (text) => {
    const { source, types } = decodeJob(text);
    const tooDeep = findTooDeepNesting(source);
    let outcome: BuildOutcome;
    try {
      outcome = { compiled: tooDeep ? { diagnostics: [tooDeep] } : await compile(source, types) };
    } catch (error) {
      // The message of a panic of the native compiler is its whole stack, which says nothing to an author.
      const [reason] = describeError(error).split('\n', 1);
      const defect = (error instanceof Error ? error.stack : undefined) ?? describeError(error);
      outcome = { failed: `The compiler failed on this source. ${reason}`, defect };
    }
    return encodeOutcome(outcome);
  };
}, jobLimit);
