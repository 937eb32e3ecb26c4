import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../support/until.ts';
import { bearer } from '../../harness.ts';
import { patientLimits, sharedToolProcesses } from '../../tool-processes.ts';
import { draftOf, startVendor } from './vendor.ts';

const kibibyte = 1024;
const path = '/api/v1/tenant/com.acme.t1';

test('limits of a tenant are at most those of the service, and null brings these back', async (t) => {
  const { send, okay, createPlugin } = await startVendor(t, {
    tenantStorage: 1024 * kibibyte,
    runLimits: { time: 500, memory: 32 * 1024 * kibibyte },
    recording: { level: 'logs' },
    outbound: { perMinute: 10 },
  });
  await createPlugin('com.acme.t1');
  const set = (limits: object) => send('PATCH', path, { limits });
  const limits = { storageMb: 1, callsPerMinute: 7, runTimeoutMs: 500, runMemoryMb: 32, records: 'logs' };
  const changed = await okay<{ limits?: object }>(set(limits));
  assert.deepEqual(changed.limits, limits);
  for (const [name, value] of [
    ['storageMb', 2],
    ['runTimeoutMs', 501],
    ['runTimeoutMs', 0],
    ['runMemoryMb', 33],
    ['records', 'payloads'],
    ['records', 'all'],
    ['callsPerMinute', -1],
    ['callsPerMinute', 11],
    // 0 is for any number.
    ['callsPerMinute', 0],
  ] as const) {
    const refused = await set({ [name]: value });
    const { error } = (await refused.json()) as { error: { code: string; path: string } };
    assert.deepEqual([refused.status, error.code, error.path], [422, 'invalid-body', `/limits/${name}`]);
  }
  assert.deepEqual((await okay<{ limits?: object }>(send('GET', path))).limits, limits);
  const { storageMb: _, ...others } = limits;
  assert.deepEqual((await okay<{ limits?: object }>(set({ storageMb: null }))).limits, others);
});

async function codeOf(response: Promise<Response>): Promise<string> {
  const { status } = await response;
  const { error } = (await (await response).json()) as { error: { code: string } };
  return `${status} ${error.code}`;
}

test('a tenant stores no more than its own limit, over all nodes', async (t) => {
  const { send, okay, startSession, save, startNode } = await startVendor(t, {
    tenantStorage: 4096 * kibibyte,
  });
  const { token } = await startSession('com.acme.t1');
  const saveOf = (length: number, by = save) =>
    by(token, { lang: 'javascript', contents: 'x'.repeat(length) }, {}, draftOf('com.acme.t1'));
  const other = await startNode();
  await okay(saveOf(1));
  await okay(send('PATCH', path, { limits: { storageMb: 0 } }));
  assert.equal(await codeOf(saveOf(10)), '403 storage-full');
  await until('the other node knows', async () => {
    const { status } = await saveOf(10, other.save);
    return status === 403;
  });
  const { usage } = await okay<{ usage: { allowedStorageMb: number } }>(send('GET', path));
  assert.equal(usage.allowedStorageMb, 0);
  await okay(send('PATCH', path, { limits: { storageMb: 1 } }));
  await okay(saveOf(900 * kibibyte));
  const second = save(
    token,
    { lang: 'javascript', contents: 'x'.repeat(200 * kibibyte) },
    {},
    draftOf('com.acme.t1', 'second'),
  );
  assert.equal(await codeOf(second), '403 storage-full');
});

test('records of a tenant’s runs hold no more than its level', async (t) => {
  const { send, okay, startSession, environmentToken, fetch } = await startVendor(t, {
    recording: { level: 'payloads' },
  });
  const { token } = await startSession('com.acme.t1');
  const editorPost = (to: string, body: string) =>
    fetch(to, { method: 'POST', headers: { ...bearer(token), 'content-type': 'text/plain' }, body });
  const at = 'com.acme.t1/default/add-record';
  const contents = 'export const run = (text) => { console.log(text); return text; };';
  await okay(editorPost(`/api/v1/build/javascript/${at}`, contents));
  await okay(send('POST', `/api/v1/draft/${at}/promote`, undefined, token));
  const details: string[][] = [];
  for (const records of ['payloads', 'logs', 'outcome']) {
    await okay(send('PATCH', path, { limits: { records } }));
    const run = await fetch(`/exec/name/${at}`, {
      method: 'POST',
      headers: { ...bearer(environmentToken), 'content-type': 'text/plain' },
      body: 'Ada',
    });
    assert.equal(run.status, 200);
    const uuid = run.headers.get('x-request-id');
    await until('the run is recorded', async () => {
      const response = await send('GET', `/api/v1/run/${uuid}`);
      if (response.status !== 200) return false;
      const record = (await response.json()) as object;
      details.push(Object.keys(record).filter((name) => ['logs', 'input', 'output'].includes(name)));
      return true;
    });
  }
  assert.deepEqual(details, [['logs', 'input', 'output'], ['logs'], []]);
});

test('a tenant’s runs and tests have its own limits of time and memory', async (t) => {
  const { send, okay, startSession, environmentToken, fetch } = await startVendor(t, {
    runLimits: patientLimits,
    toolProcesses: sharedToolProcesses(),
  });
  const { token } = await startSession('com.acme.t1');
  const post = (to: string, body: string, by: string) =>
    fetch(to, { method: 'POST', headers: { ...bearer(by), 'content-type': 'text/plain' }, body });
  const at = 'com.acme.t1/default/add-record';
  const contents = `export const run = (what) => {
    if (what === 'loop') for (;;);
    return String('x'.repeat(Number(what) * 1024 * 1024).length);
  };`;
  await okay(post(`/api/v1/build/javascript/${at}`, contents, token));
  await okay(send('POST', `/api/v1/draft/${at}/promote`, undefined, token));
  const run = async (what: string) => {
    const response = await post(`/exec/name/${at}`, what, environmentToken);
    if (response.status === 200) return response.text();
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    return `${error.code}: ${error.message}`;
  };
  assert.equal(await run('10'), String(10 * kibibyte * kibibyte));
  await okay(send('PATCH', path, { limits: { runTimeoutMs: 70, runMemoryMb: 6 } }));
  assert.match(await run('loop'), /^time-limit: .*0\.07 s/);
  const tested = await okay<{ error: { message: string } }>(post(`/api/v1/test/${at}`, 'loop', token));
  assert.match(tested.error.message, /0\.07 s/);
  await okay(send('PATCH', path, { limits: { runTimeoutMs: null } }));
  assert.match(await run('10'), /^memory-limit: /);
  await okay(send('PATCH', path, { limits: { runMemoryMb: null } }));
  assert.equal(await run('10'), String(10 * kibibyte * kibibyte));
});
