import assert from 'node:assert/strict';
import { after } from 'node:test';
import { Sandbox } from '../../../service/src/sandbox/sandbox.ts';
import { SchemaCompiler } from '../../../service/src/toolchains/schemas/schema-compiler.ts';
import type { SchemaJob } from '../../../service/src/toolchains/schemas/schema-protocol.ts';

/** A compiler of schemas and a sandbox for the tests of a file, and as whom they are used. */
export function startSchemaTools() {
  const sandbox = new Sandbox();
  const compiler = new SchemaCompiler(30_000);
  after(async () => {
    compiler.close();
    await sandbox.close();
  });
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
