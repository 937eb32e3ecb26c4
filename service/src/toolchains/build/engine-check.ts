import { EvalFlags, JSException } from 'quickjs-wasi';
import type { Diagnostic } from '../language.ts';
import type { ScriptProgram } from '../../plugins/program.ts';
import { ScriptEngine } from '../../sandbox/script-engine.ts';
import { traceInSource } from '../../sandbox/stack-trace.ts';

/**
 * Compiles a script in the engine that will run it, without running it: a parser may accept syntax that the engine does not
 * know. Returns the engine's error, if any.
 */
export async function checkInEngine(program: ScriptProgram): Promise<Diagnostic[]> {
  const { vm } = await ScriptEngine.create();
  try {
    vm.evalCode(program.code, program.file, EvalFlags.TYPE_MODULE | EvalFlags.COMPILE_ONLY);
    return [];
  } catch (error) {
    if (!(error instanceof JSException)) throw error;
    const [message = '', frame = ''] = traceInSource(error.message, error.stack ?? '', program).split('\n');
    const [, line = '1', column = '1'] = /:(\d+):(\d+)$/.exec(frame) ?? [];
    return [{ line: Number(line), column: Number(column), message, severity: 'error' }];
  }
}
