import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { measureCrashes } from '../../soak/crashes.ts';
import type { DatabaseAddress } from '../../../service/src/storage/database-url.ts';
import { parseDatabaseUrl } from '../../../service/src/storage/database-url.ts';
import { openStorage } from '../../../service/src/storage/storage.ts';
import { Cluster } from '../../postgres/cluster.ts';
import { cleanUpFirst, databaseUrl, engines, freshDatabase } from './databases.ts';
import type { EngineName } from './databases.ts';
import { accessPath, bearer, draftPath, source } from '../harness.ts';

const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };

interface Database {
  readonly address: DatabaseAddress;
  /** Crashes what keeps the data, if that is a process, and starts it again. */
  readonly crash: () => Promise<void>;
}

async function startDatabase(t: TestContext, engine: EngineName): Promise<Database> {
  if (engine === 'sqlite') return { address: await freshDatabase(t, engine), crash: async () => {} };
  const cluster = await Cluster.create({ durable: true });
  cleanUpFirst(t, () => cluster.remove());
  await cluster.start();
  return {
    address: parseDatabaseUrl(cluster.url),
    crash: async () => {
      await cluster.crash();
      await cluster.start();
    },
  };
}

async function startProcess(address: DatabaseAddress) {
  const fixture = join(import.meta.dirname, 'durability.fixture.ts');
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', fixture, databaseUrl(address)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
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

for (const engine of engines) {
  test(`${engine}: a save that was acknowledged survives kill -9, at any moment`, async (t) => {
    const { address, crash } = await startDatabase(t, engine);
    let acknowledged = 0;
    for (const saves of [1, 7, 20]) {
      const { child, save } = await startProcess(address);
      cleanUpFirst(t, () => child.kill('SIGKILL'));
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
      await Promise.all([exited, crash()]);
      if (await cut) acknowledged += 1;

      const storage = await openStorage(address);
      const draft = await storage.tables.drafts.find(plugin);
      await storage.close();
      assert.ok(
        draft && draft.revision >= acknowledged,
        `${draft?.revision} of ${acknowledged} saves are there`,
      );
      assert.equal(draft.source.contents, `revision ${draft.revision}`);
      acknowledged = draft.revision;
    }
  });

  test(`${engine}: a build and a version that were acknowledged survive kill -9`, async (t) => {
    const { address, crash } = await startDatabase(t, engine);
    const path = draftPath.replace('/api/v1/draft/', '');
    const promote = `${draftPath}/promote`;
    for (const n of [0, 1, 2]) {
      const { child, post, token } = await startProcess(address);
      cleanUpFirst(t, () => child.kill('SIGKILL'));
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
      await Promise.all([exited, crash()]);
    }
    const { child, post, token, environmentToken } = await startProcess(address);
    cleanUpFirst(t, () => child.kill('SIGKILL'));
    assert.equal(await post(promote, token), '{"version":"v1.0.5"}');
    const outputs = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((patch) => post(`/exec/${path}/v1.0.${patch}`, environmentToken)),
    );
    assert.deepEqual(outputs, ['0', '1', '2', '3', '4', '5']);
    child.kill('SIGKILL');
  });
}

// `npm run soak crashes` has a hundred rounds of it.
test('what many clients were acknowledged survives kill -9 at a random moment, three times', async () => {
  for (const { name, value, limit, note } of await measureCrashes(3)) {
    assert.ok(value <= limit, `${name}: ${value} (${note})`);
  }
});
