import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadedProgram } from '../../service/src/plugins/program.ts';
import { Sandbox } from '../../service/src/sandbox/sandbox.ts';
import { snippet } from './markdown.ts';

const sandbox = new Sandbox();
after(() => sandbox.close());

test('the plugin of the page "What a plugin may use" runs and logs', async () => {
  const program = loadedProgram({ kind: 'script', code: snippet('greeting.js'), file: 'plugin.js' });
  const owner = { environment: 'com.acme', tenant: 'customer-7', token: '' };
  const greeted = await sandbox.run({ program, input: '{"name":"Ada"}', owner });
  assert.deepEqual(greeted, { result: '{"greeting":"Hello, Ada!"}', logs: ['Greeting Ada'] });
  const unnamed = await sandbox.run({ program, input: '', owner });
  assert.equal('result' in unnamed && unnamed.result, '{"greeting":"Hello, world!"}');
});

test('what that page calls unavailable is unavailable', async () => {
  const names = ['fetch', 'setTimeout', 'Intl', 'window', 'document', 'process', 'require'];
  const code = `export const run = () => [${names.map((name) => `typeof ${name}`).join()}].join()`;
  const program = loadedProgram({ kind: 'script', code, file: 'plugin.js' });
  const ended = await sandbox.run({
    program,
    input: '',
    owner: { environment: 'com.acme', tenant: 'customer-7', token: '' },
  });
  assert.equal('result' in ended && ended.result, names.map(() => 'undefined').join());
});
