import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import {
  isEnvironmentName,
  issueOwnerToken,
  provisionEnvironmentToken,
} from '../../../service/src/accounts/environment-token.ts';
import {
  cancelVerification,
  codesPerHour,
  startVerification,
  verifyCode,
} from '../../../service/src/accounts/verification.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import {
  engineUnderTest,
  databaseWithSchema,
  openForInspection,
  openDuring,
  patientStorage,
  storedBytes,
} from '../storage/databases.ts';
import { findEnvironmentToken, findOwner } from '../../../service/src/storage/tables/environments.ts';

const minute = 60_000;
const you = { email: 'you@acme.com', environment: 'com.acme' };

async function setUp(t: TestContext) {
  const address = await databaseWithSchema(t, engineUnderTest());
  const storage = await openDuring(t, address, patientStorage);
  const start = (now = 0, who = you) => startVerification(storage, who, now);
  const enterCode = (id: number, code: string, now = 0) => verifyCode(storage, id, code, now);
  const verify = async (who = you, now = 0) => {
    const { id, code } = await start(now, who);
    const verdict = await enterCode(id, code, now);
    assert.ok('token' in verdict);
    return verdict.token;
  };
  return { address, storage, start, enterCode, verify };
}

const wrong = (code: string) => (code === '000000' ? '000001' : '000000');

test('a code of six digits returns a token of the environment once, and records its owner', async (t) => {
  const { address, storage, start, enterCode } = await setUp(t);
  const { id, code } = await start();
  assert.match(code, /^\d{6}$/);
  const bytes = await storedBytes(t, address);
  assert.ok(bytes.includes(you.email));
  // The code is stored as a hash. Six digits may be part of a number that has nothing to do with it, such as a time.
  assert.doesNotMatch(bytes.toString('latin1'), new RegExp(`(?<!\\d)${code}(?!\\d)`));
  const verdict = await enterCode(id, ` ${code.slice(0, 3)}-${code.slice(3)} `);
  assert.ok('token' in verdict);
  assert.match(verdict.token, /^pe_env_[\w-]{43}$/);
  assert.equal((await findEnvironmentToken(storage.db, verdict.token, 0))?.environment, 'com.acme');
  assert.equal(await findOwner(storage.db, 'com.acme'), 'you@acme.com');
  await assert.rejects(enterCode(id, code), /expired/);
});

test('a code allows five tries, of which the fifth may be right', async (t) => {
  const { start, enterCode } = await setUp(t);
  const [good, bad] = [await start(), await start()];
  for (const triesLeft of [4, 3, 2, 1]) {
    assert.deepEqual(await enterCode(good.id, wrong(good.code)), { triesLeft });
    assert.deepEqual(await enterCode(bad.id, wrong(bad.code)), { triesLeft });
  }
  assert.ok('token' in (await enterCode(good.id, good.code)));
  await assert.rejects(enterCode(bad.id, wrong(bad.code)), /wrong 5 times/);
  await assert.rejects(enterCode(bad.id, bad.code), /wrong 5 times/);
});

test('a code expires after ten minutes', async (t) => {
  const { start, enterCode } = await setUp(t);
  const [good, bad] = [await start(), await start()];
  assert.ok('token' in (await enterCode(good.id, good.code, 10 * minute - 1)));
  await assert.rejects(enterCode(bad.id, bad.code, 10 * minute), /expired/);
});

test('an address gets at most five codes within an hour, for all environments together', async (t) => {
  const { start } = await setUp(t);
  for (const i of [0, 1, 2, 3, 4]) await start(i * minute, { ...you, environment: `com.acme.${i}` });
  await assert.rejects(start(5 * minute), /5 codes within an hour.*Try again in 55 minutes/);
  await assert.rejects(start(60 * minute - 1), /Try again in 1 minutes?/);
  await start(5 * minute, { email: 'other@acme.com', environment: 'com.acme.other' });
  await start(60 * minute);
  await assert.rejects(start(60 * minute), /5 codes within an hour/);
});

test('a code that could not be sent does not count towards the limit', async (t) => {
  const { storage, start } = await setUp(t);
  for (let i = 0; i < codesPerHour; i++) await cancelVerification(storage, (await start()).id);
  await start();
});

test('the first address that verifies an environment owns it, and not one that only asked for a code', async (t) => {
  const { start, enterCode, verify, storage } = await setUp(t);
  const early = await start(0, { email: 'late@acme.com', environment: 'com.acme' });
  const token = await verify();
  const other = { email: 'other@acme.com', environment: 'com.acme' };
  await assert.rejects(start(0, other), /com\.acme belongs to another/);
  await assert.rejects(enterCode(early.id, early.code), /com\.acme belongs to another/);
  assert.equal((await findEnvironmentToken(storage.db, token, 0))?.environment, 'com.acme');
  await verify({ ...other, environment: 'com.acme.other' });
});

test('an address gets no code for an environment outside its domain, whether or not it has an owner', async (t) => {
  const { storage, start } = await setUp(t);
  const squatter = { email: 'attacker@evil.test', environment: 'com.acme' };
  await assert.rejects(start(0, squatter), /com\.acme is not of the domain evil\.test/);
  assert.equal(await findOwner(storage.db, 'com.acme'), undefined);
});

test('an owner from before the rule about domains keeps the token, but gets no new one by mail', async (t) => {
  const { storage, start } = await setUp(t);
  const before = { email: 'you@gmail.com', environment: 'com.acme' };
  const issued = await storage.transaction((db) => issueOwnerToken(db, before.environment, before.email, 0));
  const token = issued ?? '';
  await assert.rejects(start(0, before), /Anybody can get an address at gmail\.com/);
  assert.equal((await findEnvironmentToken(storage.db, token, 0))?.environment, 'com.acme');
  assert.equal(await findOwner(storage.db, 'com.acme'), 'you@gmail.com');
});

/** Does this eight times, on two nodes in turn, with transactions that begin together: the slow hashes before them end one by one. */
async function together<T>(t: TestContext, nodes: readonly Storage[], work: (node: Storage) => Promise<T>) {
  const count = 8;
  const all = Promise.withResolvers<void>();
  let begun = 0;
  const mocks = nodes.map((node) => {
    const transaction = node.transaction.bind(node);
    return t.mock.method(node, 'transaction', async (...args: Parameters<typeof transaction>) => {
      begun += 1;
      if (begun === count) all.resolve();
      await all.promise;
      return transaction(...args);
    });
  });
  const outcomes = await Promise.allSettled(
    Array.from({ length: count }, (_, i) => work(nodes[i % nodes.length] as Storage)),
  );
  for (const { mock } of mocks) mock.restore();
  return outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

test('eight codes that are entered at once on two nodes share five tries, and the right one among them succeeds once', async (t) => {
  const { address, storage, start } = await setUp(t);
  const nodes = [storage, await openDuring(t, address, patientStorage)];
  const [wrongly, rightly] = [await start(), await start()];
  const left = await together(t, nodes, (node) => verifyCode(node, wrongly.id, wrong(wrongly.code), 0));
  assert.deepEqual(
    left.map((one) => 'triesLeft' in one && one.triesLeft).toSorted((a, b) => Number(a) - Number(b)),
    [1, 2, 3, 4],
  );
  assert.equal((await together(t, nodes, (node) => verifyCode(node, rightly.id, rightly.code, 0))).length, 1);
});

test('of eight simultaneous requests for a code on two nodes, an address gets five', async (t) => {
  const { address, storage } = await setUp(t);
  const nodes = [storage, await openDuring(t, address, patientStorage)];
  assert.equal((await together(t, nodes, (node) => startVerification(node, you, 0))).length, 5);
});

test('a new token ends the previous one, but not that of the demo', async (t) => {
  const { storage, verify } = await setUp(t);
  const demo = await provisionEnvironmentToken(storage, 'com.acme', 0);
  const [first, second] = [await verify(), await verify()];
  const found = await Promise.all(
    [first, second, demo].map((token) => findEnvironmentToken(storage.db, token, 0)),
  );
  assert.deepEqual(
    found.map((one) => one?.holder),
    [undefined, 'owner', 'demo'],
  );
});

test('codes are deleted once they no longer count', async (t) => {
  const { address, start } = await setUp(t);
  const db = await openForInspection(t, address);
  const count = async () => (await db.selectFrom('verification_codes').select('id').execute()).length;
  await start(0);
  await start(1);
  assert.equal(await count(), 2);
  await start(60 * minute);
  assert.equal(await count(), 2);
});

test('environment names are words joined by periods', () => {
  for (const name of ['com.example', 'acme', 'com.acme-2.x_y', 'de.bücher'])
    assert.ok(isEnvironmentName(name), name);
  for (const name of ['', '.', 'a..b', '.a', 'a.', 'a b', 'a/b', 'a\n', '../x', 'x'.repeat(201)]) {
    assert.ok(!isEnvironmentName(name), name);
  }
});
