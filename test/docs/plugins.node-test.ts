import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadedProgram } from '../../service/src/plugins/program.ts';
import { Sandbox } from '../../service/src/sandbox/sandbox.ts';
import { connectionsSchema } from '../../service/src/http/environment/connection-details.ts';
import { MockedCalls, mocksSchema } from '../../service/src/outbound/mocked-calls.ts';
import { patientLimits } from '../service/tool-processes.ts';
import { snippet } from './markdown.ts';

const sandbox = new Sandbox({ limits: patientLimits });
after(() => sandbox.close());

test('the plugin of the page "What a plugin may use" runs and logs', async () => {
  const program = loadedProgram({ kind: 'script', code: snippet('greeting.js'), file: 'plugin.js' });
  const owner = { environment: 'com.acme', tenant: 'customer-7', token: '' };
  const greeted = await sandbox.run({ program, input: '{"name":"Ada"}', owner });
  assert.deepEqual(greeted, { result: '{"greeting":"Hello, Ada!"}', logs: ['Greeting Ada'] });
  const unnamed = await sandbox.run({ program, input: '', owner });
  assert.equal('result' in unnamed && unnamed.result, '{"greeting":"Hello, world!"}');
});

test('the plugin of the page "Plugins in Python" runs and logs', async () => {
  const program = loadedProgram({ kind: 'python', code: snippet('greeting.py') });
  const owner = { environment: 'com.acme', tenant: 'customer-7', token: '' };
  assert.deepEqual(await sandbox.run({ program, input: '{"name":"Ada"}', owner }), {
    result: '{"greeting": "Hello, Ada!"}',
    logs: ['[info] Greeting Ada'],
  });
});

test('the plugin of the page "Let plugins call" passes its test, and its connections are legal', async () => {
  const { connections } = JSON.parse(snippet('connections.json')) as { connections: unknown };
  assert.equal(connectionsSchema.parse(connections).length, 2);
  const rateTest = JSON.parse(snippet('rate-test.json')) as {
    payload: string;
    expected: string;
    calls: unknown;
  };
  const ended = await sandbox.run({
    program: loadedProgram({ kind: 'script', code: snippet('rate.js'), file: 'plugin.js' }),
    input: rateTest.payload,
    owner: { environment: 'com.acme', tenant: 'customer-7', token: '' },
    caller: new MockedCalls(mocksSchema.parse(rateTest.calls), { digests: () => [] }),
  });
  assert.deepEqual(ended, { result: rateTest.expected, logs: [] });
});

test('what that page calls unavailable is unavailable', async () => {
  const names = [
    'fetch',
    'setTimeout',
    'Intl.Locale',
    'Intl.Segmenter',
    'window',
    'document',
    'process',
  ].concat(['require', 'Request', 'Blob', 'ReadableStream']);
  const code = `export const run = () => [${names.map((name) => `typeof ${name}`).join()}].join()`;
  const program = loadedProgram({ kind: 'script', code, file: 'plugin.js' });
  const ended = await sandbox.run({
    program,
    input: '',
    owner: { environment: 'com.acme', tenant: 'customer-7', token: '' },
  });
  assert.equal('result' in ended && ended.result, names.map(() => 'undefined').join());
});

test('the plugins of that page write as a country does, and sign', async () => {
  const owner = { environment: 'com.acme', tenant: 'customer-7', token: '' };
  const run = async (name: string, input: string) => {
    const program = loadedProgram({ kind: 'script', code: snippet(name), file: 'plugin.js' });
    const ended = await sandbox.run({ program, input, owner });
    assert.ok('result' in ended && typeof ended.result === 'string', JSON.stringify(ended));
    return ended.result;
  };
  assert.deepEqual(JSON.parse(await run('invoice.js', '')), {
    amount: '1.234,50\u00a0€',
    due: '24. November 2026',
    payers: ['Änne', 'Bo', 'Zoe'],
  });
  assert.equal(
    await run('sign.js', 'a text to sign'),
    'https://example.com/orders?signature=GPgNnXI7o%2B%2BP3jivJFZvvyPGRdTBPQkbeVGLCIr%2FppQ%3D',
  );
});
