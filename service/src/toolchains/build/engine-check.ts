import { EvalFlags, JSException } from 'quickjs-wasi';
import type { Diagnostic } from '../language.ts';
import type { ScriptProgram } from '../../plugins/program.ts';
import { ScriptEngine } from '../../sandbox/script/script-engine.ts';
import { traceInSource } from '../../sandbox/script/stack-trace.ts';

/**
 * Compiles a script in the engine that will run it, without running it: a parser may accept syntax that the engine does not
 * know. Returns the engine's error, if any. `imports`: the libraries that it imports, which need not be there.
 */
export async function checkInEngine(
  program: ScriptProgram,
  imports: readonly string[] = [],
): Promise<Diagnostic[]> {
  const engine = await ScriptEngine.create();
  const { vm } = engine;
  engine.libraries = Object.fromEntries(imports.map((name) => [name, '']));
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
