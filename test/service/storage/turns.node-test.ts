import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestOwner, setRequestOwner, KeyedTurns, Turns } from '../../../service/src/storage/turns.ts';
import { databaseWithSchema, engines, openDuring, patientStorage } from './databases.ts';
import { seedTenant, build, deploy, plugin } from './plugins.ts';
import { findTenant } from '../../../service/src/storage/tables/tenants.ts';
import { lockPlugin } from '../../../service/src/storage/db.ts';

const tenant = (environment: string, name: string, token = 'one') => ({ environment, tenant: name, token });

/** Asks for a turn as a request of a share does. */
const ask = (turns: Turns, owner: ReturnType<typeof tenant>) =>
  requestOwner.run({}, () => {
    setRequestOwner(owner);
    return turns.acquire();
  });

test('no tenant has all turns, and no environment', async () => {
  const turns = new Turns({ slots: 10, waiting: 100, timeout: 60_000 });
  const first = Array.from({ length: 9 }, () => ask(turns, tenant('com.a', 't1')));
  assert.equal(turns.waiting, 3, 'Of one tenant.');
  const second = Array.from({ length: 9 }, () => ask(turns, tenant('com.a', 't2')));
  assert.equal(turns.waiting, 10, 'Of one environment.');
  await ask(turns, tenant('com.b', 't1'));
  await turns.acquire();
  assert.equal(turns.waiting, 10, 'Another environment, and work for no request, need not wait.');
  const ended = await first[0];
  ended?.();
  await second[2];
  assert.equal(turns.waiting, 9);
  for (const one of [...first, ...second]) (await one)();
});

test('one that cannot wait, or waits too long, is told that the database is not available', async () => {
  const turns = new Turns({ slots: 1, waiting: 10, timeout: 1 });
  const end = await turns.acquire();
  const waiting = Array.from({ length: 4 }, () => turns.acquire());
  const ends = await Promise.allSettled(waiting);
  for (const one of ends)
    assert.equal(one.status === 'rejected' && (one.reason as Error).name, 'StorageUnavailableError');
  end();
  (await turns.acquire())();
});

test('work of one key is done in its order, and work of another at once', async () => {
  const turns = new KeyedTurns(60_000);
  const gate = Promise.withResolvers<void>();
  const done: string[] = [];
  const first = turns.run('a', async () => {
    await gate.promise;
    done.push('first');
  });
  const failing = turns.run('a', () => Promise.reject(new Error('no')));
  const last = turns.run('a', async () => done.push('last'));
  await turns.run('b', async () => done.push('other'));
  gate.resolve();
  await first;
  await assert.rejects(failing, /^Error: no$/);
  await last;
  assert.deepEqual(done, ['other', 'first', 'last']);
  await turns.run('a', async () => done.push('later'));
});

for (const engine of engines) {
  test(`${engine}: a transaction that finds a lock taken waits for it without a connection`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const nodes = [
      await openDuring(t, address, patientStorage),
      await openDuring(t, address, patientStorage),
    ] as const;
    await seedTenant(nodes[0]);
    await build(nodes[0], 'text');
    const locked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const holding = nodes[1].transaction(async (db) => {
      await lockPlugin(db, plugin);
      locked.resolve();
      await gate.promise;
    });
    await locked.promise;
    const waiting = Promise.all(Array.from({ length: 30 }, () => deploy(nodes[0], 'text')));
    // On SQLite they wait for the only writer, whatever they want to lock.
    if (engine === 'postgres')
      for (let i = 0; i < 20; i++) await nodes[0].transaction((db) => findTenant(db, plugin));
    assert.ok(await findTenant(nodes[0].db, plugin));
    gate.resolve();
    await holding;
    assert.equal(new Set(await waiting).size, 30);
  });
}
