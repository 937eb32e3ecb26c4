import { after } from 'node:test';
import { Sandbox } from '../../../service/src/sandbox/sandbox.ts';
import { SchemaCompiler } from '../../../service/src/toolchains/schemas/schema-compiler.ts';

/** A compiler of schemas and a sandbox for the tests of a file, and as whom they are used. */
export function startSchemaTools() {
  const sandbox = new Sandbox();
  const compiler = new SchemaCompiler(30_000);
  after(async () => {
    compiler.close();
    await sandbox.close();
  });
  const share = { environment: 'e', tenant: 't', token: '' };
  return { sandbox, compiler, share, signal: new AbortController().signal };
}
