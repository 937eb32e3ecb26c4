import assert from 'node:assert/strict';
import { SchemaCompiler } from '../../../service/src/toolchains/schemas/schema-compiler.ts';
import type { SchemaJob } from '../../../service/src/toolchains/schemas/schema-protocol.ts';
import { sharedToolProcesses } from '../tool-processes.ts';

let shared: SchemaCompiler | undefined;

/** The compiler of schemas of this process, with time enough on a busy machine. */
function sharedCompiler(): SchemaCompiler {
  if (!shared) {
    const compiler = (shared = new SchemaCompiler(30_000));
    process.once('exit', () => compiler.close());
  }
  return shared;
}

/** The compiler of schemas and the sandbox of the process, and as whom they are used. */
export function startSchemaTools() {
  const { sandbox } = sharedToolProcesses();
  const compiler = sharedCompiler();
  const owner = { environment: 'e', tenant: 't', token: '' };
  const { signal } = new AbortController();
  /** Compiles schemas whose parts are all valid. */
  const compilePair = async (job: SchemaJob) => {
    const outcome = await compiler.compile(job, owner, signal);
    assert.ok('result' in outcome, JSON.stringify(outcome));
    return outcome.result;
  };
  return { sandbox, compiler, compilePair, owner, signal };
}
