import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../../service/src/storage/store.ts';
import { measureCrashes } from '../../soak/crashes.ts';
import { accessPath, bearer, draftPath, source, temporaryDirectory } from '../harness.ts';

const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };

async function startProcess(directory: string) {
  const fixture = join(import.meta.dirname, 'durability.fixture.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', fixture, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const [port = '', environmentToken = ''] = line.trim().split(' ');
  const base = `http://127.0.0.1:${port}`;
  const issued = await fetch(base + accessPath, { headers: bearer(environmentToken) });
  const { token } = (await issued.json()) as { token: string };
  const save = (contents: string) =>
    fetch(base + draftPath, {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json' },
      body: JSON.stringify({ ...source, contents }),
    });
  const post = async (path: string, bearerToken: string, body = '') => {
    const headers = { ...bearer(bearerToken), 'content-type': 'text/plain' };
    return (await fetch(base + path, { method: 'POST', headers, body })).text();
  };
  return { child, save, post, token, environmentToken };
}

test('a save that was acknowledged survives kill -9, at any moment', async (t) => {
  const directory = temporaryDirectory(t);
  let acknowledged = 0;
  for (const saves of [1, 7, 20]) {
    const { child, save } = await startProcess(directory);
    t.after(() => child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    const last = acknowledged + saves;
    while (acknowledged < last) {
      const answer = await save(`revision ${acknowledged + 1}`);
      assert.equal(answer.status, 200);
      acknowledged += 1;
    }
    // One more is under way when the process goes: it may be there afterwards or not, but whole.
    const cut = save(`revision ${acknowledged + 1}`).then(
      ({ ok }) => ok,
      () => false,
    );
    child.kill('SIGKILL');
    await exited;
    if (await cut) acknowledged += 1;

    const store = openStore(directory);
    const draft = store.drafts.find(plugin);
    store.close();
    assert.ok(
      draft && draft.revision >= acknowledged,
      `${draft?.revision} of ${acknowledged} saves are there`,
    );
    assert.equal(draft.source.contents, `revision ${draft.revision}`);
    acknowledged = draft.revision;
  }
});

test('a build and a version that were acknowledged survive kill -9', async (t) => {
  const directory = temporaryDirectory(t);
  const path = draftPath.replace('/api/v1/draft/', '');
  const promote = `${draftPath}/promote`;
  for (const n of [0, 1, 2]) {
    const { child, post, token } = await startProcess(directory);
    t.after(() => child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    const build = async (output: number) => {
      const text = `export const run = () => "${output}";`;
      assert.match(await post(`/api/v1/build/javascript/${path}`, token, text), /"succeeded":true/);
    };
    // What the process before built is there to deploy.
    if (n) assert.equal(await post(promote, token), `{"version":"v1.0.${n * 2 - 1}"}`);
    await build(n * 2);
    assert.equal(await post(promote, token), `{"version":"v1.0.${n * 2}"}`);
    await build(n * 2 + 1);
    child.kill('SIGKILL');
    await exited;
  }
  const { child, post, token, environmentToken } = await startProcess(directory);
  t.after(() => child.kill('SIGKILL'));
  assert.equal(await post(promote, token), '{"version":"v1.0.5"}');
  const outputs = await Promise.all(
    [0, 1, 2, 3, 4, 5].map((patch) => post(`/exec/${path}/v1.0.${patch}`, environmentToken)),
  );
  assert.deepEqual(outputs, ['0', '1', '2', '3', '4', '5']);
  child.kill('SIGKILL');
});

// `npm run soak crashes` has a hundred rounds of it.
test('what many clients were acknowledged survives kill -9 at a random moment, three times', async () => {
  for (const { name, value, limit, note } of await measureCrashes(3)) {
    assert.ok(value <= limit, `${name}: ${value} (${note})`);
  }
});
