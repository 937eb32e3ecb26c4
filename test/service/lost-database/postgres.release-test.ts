import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { openStorage } from '../../../service/src/storage/storage.ts';
import { Cluster } from '../../postgres/cluster.ts';
import { bearer } from '../harness.ts';
import { cleanUpFirst, freshDatabase } from '../storage/databases.ts';
import { isUnavailable, patientMonitor, proxiedService, proxyOf, untilSaved } from './proxied.ts';
import { until } from '../../support/until.ts';

const program = 'export const run = (input) => `ran ${input}`;';

/** The proxy does something to the first thing sent that has this text in it, and to nothing else. */
const once = (text: string, verdict: 'cut' | 'stall') => {
  let isDone = false;
  return (sent: Buffer) => {
    if (isDone || !sent.includes(text)) return 'pass';
    isDone = true;
    return verdict;
  };
};

/** Keeps every write of drafts waiting until it is let go of. */
async function lockDrafts(t: TestContext, url: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  cleanUpFirst(t, () => client.end());
  await client.query('begin; lock table drafts in access exclusive mode');
  return async () => void (await client.query('rollback'));
}

test('connections that break while idle cost at most one 503', async (t) => {
  const { proxy, save, saved, errors } = await proxiedService(t);
  assert.equal((await save('first')).status, 200);
  for (const contents of ['second', 'third']) {
    proxy.cut();
    await untilSaved(save, contents);
    assert.equal(await saved(), contents);
  }
  assert.deepEqual(errors, []);
});

test('a connection that breaks within a transaction undoes it, and the response is 503', async (t) => {
  const { proxy, save, saved, errors } = await proxiedService(t);
  // The first save makes the plugin, in a transaction.
  proxy.watch(once('insert into "drafts"', 'cut'));
  assert.ok(await isUnavailable(await save('first')));
  assert.equal(await saved(), undefined);
  assert.equal((await save('second')).status, 200);
  assert.deepEqual(errors, []);
});

test('writes that find the disk full are refused, and what is there is read, run and deleted', async (t) => {
  const { save, read, run, fetch, environmentToken, url, buildProgram, deployProgram, storage, errors } =
    await proxiedService(t);
  await buildProgram(program);
  await deployProgram(program);
  const client = new Client({ connectionString: url });
  await client.connect();
  cleanUpFirst(t, () => client.end());
  // A full disk is simulated by a trigger that raises the server's own error.
  await client.query(`
    create function test_disk_full() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
    create trigger test_disk_full before insert or update on drafts execute function test_disk_full()`);
  const refused = await save('more');
  const { error } = (await refused.clone().json()) as { error: { message: string } };
  assert.ok(await isUnavailable(refused));
  assert.match(error.message, /disk .* is full, so that nothing can be saved until its operator makes room/);
  assert.equal(storage.unavailability, undefined);

  assert.equal(await (await run()).text(), 'ran input');
  assert.equal((await read()).status, 200);
  const plugin = '/api/v1/plugin/com.acme.t1/default/add-record';
  const deleted = await fetch(plugin, { method: 'DELETE', headers: bearer(environmentToken) });
  assert.equal(deleted.status, 204);
  assert.deepEqual(errors, []);
});

test('a deployment whose commit was not acknowledged is 503, and a retry finds it done', async (t) => {
  const { proxy, promote, buildProgram } = await proxiedService(t);
  await buildProgram(program);
  proxy.watch(once('commit', 'cut'));
  assert.ok(await isUnavailable(await promote()));
  const again = await promote();
  assert.deepEqual(await again.json(), { version: 'v1.0.0', unchanged: true, live: 'v1.0.0' });
});

test('a connection that stops answering is given up, while others work', async (t) => {
  const { proxy, save, read, storage } = await proxiedService(t, { postgresLimits: { holdTimeout: 6000 } });
  assert.equal((await save('first')).status, 200);
  proxy.watch(once('update "drafts"', 'stall'));
  const stalled = save('second');
  const { contents } = (await (await read()).json()) as { contents: string };
  assert.equal(contents, 'first');
  assert.ok(await isUnavailable(await stalled));
  assert.equal(storage.unavailability, undefined);
  // What the stalled connection held is let go of by itself.
  await untilSaved(save, 'third');
});

test('a database that stops answering causes 503, soon without delay, and recovers without a restart', async (t) => {
  const reasons: (string | undefined)[] = [];
  const { proxy, save, read, storage, saved, errors } = await proxiedService(t, {
    onAvailability: (reason) => reasons.push(reason),
    // Nothing else tells of such a loss. They are longer than a busy machine takes.
    postgresLimits: { monitorTimeout: 3000, monitorConnectTimeout: 4000 },
  });
  assert.equal((await save('first')).status, 200);
  proxy.stall();
  // These are on the way when nobody knows of it yet.
  const responses = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? save('lost') : read())));
  for (const response of responses) assert.ok(await isUnavailable(response));
  await until('the database is known to be away', () => storage.unavailability !== undefined);
  const began = performance.now();
  for (let i = 0; i < 100; i++) assert.ok(await isUnavailable(await save('lost')));
  // A hundred that waited for a connection would take minutes.
  assert.ok(performance.now() - began < 60_000);
  proxy.resume();
  await untilSaved(save, 'second');
  assert.equal(await saved(), 'second');
  assert.equal(reasons.length, 2);
  assert.equal(typeof reasons[0], 'string');
  assert.equal(reasons[1], undefined);
  assert.deepEqual(errors, []);
});

test('an unanswered statement does not keep the service from ending', async (t) => {
  const { proxy, save, storage } = await proxiedService(t, {
    postgresLimits: { holdTimeout: 600_000, closeTimeout: 200 },
  });
  assert.equal((await save('first')).status, 200);
  const isStalled = Promise.withResolvers<void>();
  const stall = once('update "drafts"', 'stall');
  proxy.watch((sent) => {
    const verdict = stall(sent);
    if (verdict === 'stall') isStalled.resolve();
    return verdict;
  });
  const stalled = save('second');
  await isStalled.promise;
  // Without a limit this would not end.
  await storage.close();
  assert.ok(await isUnavailable(await stalled));
});

test('the service works with a database that takes a second to answer', async (t) => {
  const { proxy, save, run, saved, deployProgram, buildProgram, storage } = await proxiedService(t, {
    postgresLimits: { monitorTimeout: 3000, monitorConnectTimeout: 4000 },
  });
  await buildProgram(program);
  await deployProgram(program);
  proxy.delay = 250;
  assert.equal((await save('slow')).status, 200);
  assert.equal(await saved(), 'slow');
  assert.equal(await (await run('v1.0.0')).text(), 'ran input');
  proxy.cut();
  await untilSaved(save, 'slow again');
  assert.equal(storage.unavailability, undefined);
});

test('a crash of the database loses no acknowledged write, and the service recovers after it', async (t) => {
  const cluster = await Cluster.create({ durable: true });
  cleanUpFirst(t, () => cluster.remove());
  await cluster.start();
  const { save, saved, errors } = await proxiedService(t, {}, cluster.url);
  for (let round = 0; round < 3; round++) {
    assert.equal((await save(`before ${round}`)).status, 200);
    await cluster.crash();
    assert.ok(await isUnavailable(await save('lost')));
    await cluster.start();
    await until('it can be read again', async () => (await saved().catch(() => undefined)) !== undefined);
    assert.equal(await saved(), `before ${round}`);
    await untilSaved(save, `after ${round}`);
  }
  assert.deepEqual(errors, []);
});

test('statements behind a lock that is never released are 503 within bounds, while runs go on', async (t) => {
  const { save, run, url, buildProgram, deployProgram, storage } = await proxiedService(t, {
    postgresLimits: { connections: 3, acquireTimeout: 2000, statementTimeout: 3000 },
  });
  await buildProgram(program);
  await deployProgram(program);
  assert.equal((await run('v1.0.0')).status, 200);
  const release = await lockDrafts(t, url);
  const saves = Promise.all(Array.from({ length: 30 }, () => save('waits')));
  assert.equal(await (await run('v1.0.0')).text(), 'ran input');
  for (const response of await saves) assert.ok(await isUnavailable(response));
  assert.equal(storage.unavailability, undefined);
  await release();
  await untilSaved(save, 'in the end');
});

test('requests beyond those that may wait for a connection are 503 at once', async (t) => {
  const { save, url } = await proxiedService(t, { postgresLimits: { connections: 2, waiting: 5 } });
  const release = await lockDrafts(t, url);
  const statuses: number[] = [];
  const saves = Array.from({ length: 50 }, async () => {
    const response = await save('waits');
    statuses.push(response.status);
    return response;
  });
  await until('those that may not wait are answered', () => statuses.length >= 43);
  assert.ok(statuses.every((status) => status === 503));
  await release();
  const responses = await Promise.all(saves);
  const acknowledged = responses.filter(({ status }) => status === 200).length;
  assert.ok(acknowledged > 0 && acknowledged <= 7, `${acknowledged} were acknowledged`);
  for (const response of responses) if (response.status !== 200) assert.ok(await isUnavailable(response));
});

test('known versions run without the database for as long as is set', async (t) => {
  const { proxy, run, promote, buildProgram, deployProgram, storage, fetch } = await proxiedService(t, {
    offlineRunSeconds: 600,
  });
  await buildProgram(program);
  await deployProgram(program);
  await storage.readChanges();
  assert.equal((await run('v1.0.0')).status, 200);
  assert.equal((await run()).status, 200);
  await proxy.refuse();
  await until('the database is known to be away', () => storage.unavailability !== undefined);
  assert.equal(await (await run('v1.0.0')).text(), 'ran input');
  // The newest version may be another one by now; and nothing else is known.
  await until('the newest version is not sure any more', async () => isUnavailable(await run()));
  assert.ok(await isUnavailable(await run('v1.0.1')));
  assert.ok(await isUnavailable(await promote()));
  const unknown = await fetch('/exec/com.acme.t1/default/add-record/v1.0.0', {
    method: 'POST',
    headers: { authorization: 'Bearer unknown', 'content-type': 'text/plain' },
    body: '',
  });
  assert.ok(await isUnavailable(unknown));
  await proxy.listen();
  await until('all is well again', async () => !(await isUnavailable(await run())));
});

test('a known version runs without the database even after its runner has ended', async (t) => {
  const source = `export const run = (input) => { while (input === 'loop'); return 'ran'; };`;
  const { proxy, run, fetch, environmentToken, buildProgram, deployProgram, storage } = await proxiedService(
    t,
    { offlineRunSeconds: 600 },
  );
  await buildProgram(source);
  await deployProgram(source);
  assert.equal((await run('v1.0.0')).status, 200);
  await proxy.refuse();
  await until('the database is known to be away', () => storage.unavailability !== undefined);
  const looped = await fetch('/exec/com.acme.t1/default/add-record/v1.0.0', {
    method: 'POST',
    headers: { authorization: `Bearer ${environmentToken}`, 'content-type': 'text/plain' },
    body: 'loop',
  });
  assert.equal(looped.status, 504);
  assert.equal(await (await run('v1.0.0')).text(), 'ran');
});

test('nothing runs without the database once the set time is over', async (t) => {
  const { proxy, run, buildProgram, deployProgram, storage } = await proxiedService(t, {
    offlineRunSeconds: 0,
  });
  await buildProgram(program);
  await deployProgram(program);
  assert.equal((await run('v1.0.0')).status, 200);
  await proxy.refuse();
  await until('the database is known to be away', () => storage.unavailability !== undefined);
  await until('the token is not sure any more', async () => isUnavailable(await run('v1.0.0')));
});

test('a node that was cut off learns afterwards of what others changed', async (t) => {
  const { url, deployProgram, buildProgram } = await proxiedService(t);
  const { proxy, run, storage } = await proxiedService(t, { offlineRunSeconds: 600 }, url);
  await buildProgram(program);
  await deployProgram(program);
  assert.equal(await (await run()).text(), 'ran input');
  await proxy.refuse();
  await until('the database is known to be away', () => storage.unavailability !== undefined);
  await until('the newest version is not sure any more', async () => isUnavailable(await run()));
  const newer = program.replace('ran', 'newer');
  await buildProgram(newer);
  await deployProgram(newer);
  await proxy.listen();
  await until('the newer version runs', async () => {
    const response = await run();
    if (await isUnavailable(response.clone())) return false;
    // Whatever is answered from now on is of the newer version.
    assert.equal(await response.text(), 'newer input');
    return true;
  });
});

test('the start waits for a database that cannot be reached yet, for as long as is set', async (t) => {
  const { url } = (await freshDatabase(t, 'postgres')) as { url: string };
  const { proxy, proxied } = await proxyOf(t, url);
  await proxy.refuse();
  const notThere = /^The database postgres:\/\/.* cannot be used: .*ECONNREFUSED.*\. See DATABASE_URL\.$/;
  await assert.rejects(openStorage(proxied), { name: 'StartError', message: notThere });
  const opening = openStorage(proxied, { startTimeout: 60_000, postgresLimits: patientMonitor });
  await proxy.listen();
  await (await opening).close();
});

test('the start does not wait for a database that can be reached and cannot be used', async (t) => {
  const { url } = (await freshDatabase(t, 'postgres')) as { url: string };
  const { proxied } = await proxyOf(t, url.replace(/test_\w+$/, 'no_such_database'));
  const opening = openStorage(proxied, { startTimeout: 2 ** 30 });
  await assert.rejects(opening, {
    name: 'StartError',
    message: /database "no_such_database" does not exist/,
  });
});
