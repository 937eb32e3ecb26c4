import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceProcess } from '../service-process.ts';
import { engines, databaseWithSchema } from '../storage/databases.ts';

for (const engine of engines) {
  test(`${engine}: types that one node stored apply on the other at once`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const first = await ServiceProcess.start(t, address);
    const second = await ServiceProcess.start(t, address, first.environmentToken);
    const setTypes = async (output: unknown) => {
      const path = '/api/v1/environment/com.acme/namespaces/default';
      const body = JSON.stringify({ output });
      const response = await first.request('PUT', path, first.environmentToken, body, {
        'content-type': 'application/json',
      });
      assert.ok(response.ok, await response.text());
    };
    const token = await second.editorToken();
    const known = async () => {
      const response = await second.request('GET', '/api/v1/plugin/com.acme.t1/default/add-record', token);
      return (await response.json()) as { built: boolean; outdated: boolean };
    };
    const run = (node: ServiceProcess, version: string, input: string) =>
      node.request('POST', `/exec/com.acme.t1/default/add-record/${version}`, first.environmentToken, input);
    await second.build(token, 'export const run = () => "1";');
    await second.deploy(token);
    await setTypes({ type: 'number' });
    assert.deepEqual([(await known()).built, (await known()).outdated], [false, true]);
    await second.build(token, 'export const run = () => 2;');
    assert.equal((await second.deploy(token)).version, 'v1.0.1');
    for (const node of [first, second]) {
      assert.equal(await (await run(node, 'v1.0.0', '""')).text(), '1');
      const typed = await run(node, 'v1.0.1', '""');
      assert.equal(typed.headers.get('content-type'), 'application/json');
      assert.equal(await typed.text(), '2');
    }
    await setTypes({ type: 'string' });
    assert.equal((await known()).outdated, true);
    assert.equal((await run(second, 'v1.0.1', '""')).status, 200);
  });
}
