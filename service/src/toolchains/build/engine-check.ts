import { EvalFlags, JSException } from 'quickjs-wasi';
import type { Diagnostic } from '../language.ts';
import type { ScriptProgram } from '../../plugins/program.ts';
import { ScriptEngine } from '../../sandbox/script-engine.ts';
import { traceInSource } from '../../sandbox/stack-trace.ts';

/**
 * Has the engine that will run a script read it, without running it: a parser may know syntax that the engine does
 * not. Returns what it says against it.
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
