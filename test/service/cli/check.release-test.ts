import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseWithSchema } from '../storage/databases.ts';
import { runCommand } from './service-command.ts';

test('check builds a plugin in each language', async (t) => {
  const command = runCommand(t, await databaseWithSchema(t, 'sqlite'), ['check']);
  const { status, out, err } = await command.done();
  assert.match(out, /^ok +toolchains: .*javascript.* build$/m);
  assert.deepEqual([status, err], [0, ''], out);
});
