import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../harness.ts';
import { openDuring } from '../storage/databases.ts';
import { asJson, plugin, startTypedPlugin } from './typed-plugin.ts';

test('types that one node stored apply on the other at once', async (t) => {
  const { address, vendor, build, deploy, run, read } = await startTypedPlugin(t);
  const other = await startService(t, { storage: await openDuring(t, address) });
  const setTypes = async (output: unknown) => {
    const path = '/api/v1/environment/com.acme/namespaces/default';
    const body = JSON.stringify({ output });
    const response = await other.fetch(path, { method: 'PUT', headers: { ...vendor, ...asJson }, body });
    assert.ok(response.ok, await response.text());
  };
  const state = async () => {
    const { built, outdated } = await read(`/api/v1/plugin/${plugin}`);
    return { built, outdated };
  };
  await build('export const run = () => "1";');
  await deploy();
  await setTypes({ type: 'number' });
  assert.deepEqual(await state(), { built: false, outdated: true });
  await build('export const run = () => 2;');
  assert.deepEqual(await (await deploy()).json(), { version: 'v1.0.1', live: 'v1.0.1' });
  const runOnOther = (body: string, path: string) =>
    other.fetch(path, { method: 'POST', headers: vendor, body });
  for (const one of [run, runOnOther]) {
    assert.equal(await (await one('""', `/exec/${plugin}/v1.0.0`)).text(), '1');
    const typed = await one('""', `/exec/${plugin}/v1.0.1`);
    assert.equal(typed.headers.get('content-type'), 'application/json');
    assert.equal(await typed.text(), '2');
  }
  await setTypes({ type: 'string' });
  assert.deepEqual(await state(), { built: false, outdated: true });
  assert.equal((await run('""', `/exec/${plugin}/v1.0.1`)).status, 200);
});
