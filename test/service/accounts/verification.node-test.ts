import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import {
  isEnvironmentName,
  issueOwnerToken,
  provisionEnvironmentToken,
} from '../../../service/src/accounts/environment-token.ts';
import { openStore } from '../../../service/src/storage/store.ts';
import {
  answerVerification,
  cancelVerification,
  startVerification,
} from '../../../service/src/accounts/verification.ts';
import { temporaryDirectory } from '../harness.ts';

const minute = 60_000;
const you = { email: 'you@acme.com', environment: 'com.acme' };

function setUp(t: TestContext) {
  const store = openStore(temporaryDirectory(t));
  t.after(() => store.close());
  const start = (now = 0, who = you) => startVerification(store, who, now);
  const answer = (id: number, code: string, now = 0) => answerVerification(store, id, code, now);
  const verify = (who = you, now = 0) => {
    const { id, code } = start(now, who);
    const verdict = answer(id, code, now);
    assert.ok('token' in verdict);
    return verdict.token;
  };
  return { store, start, answer, verify };
}

const wrong = (code: string) => (code === '000000' ? '000001' : '000000');

test('the right code gives the environment a token and its owner', (t) => {
  const { store, verify } = setUp(t);
  const token = verify();
  assert.match(token, /^pe_env_[\w-]{43}$/);
  assert.equal(store.environments.findByToken(token), 'com.acme');
  assert.equal(store.environments.owner('com.acme'), 'you@acme.com');
});

test('a code is six digits, and is read with spaces and hyphens', (t) => {
  const { start, answer } = setUp(t);
  const { id, code } = start();
  assert.match(code, /^\d{6}$/);
  assert.ok('token' in answer(id, ` ${code.slice(0, 3)}-${code.slice(3)} `));
});

test('a code works once', (t) => {
  const { start, answer } = setUp(t);
  const { id, code } = start();
  answer(id, code);
  assert.throws(() => answer(id, code), /expired/);
});

test('a code is good for five tries, and the fifth may be right', (t) => {
  const { start, answer } = setUp(t);
  const [good, bad] = [start(), start()];
  for (const triesLeft of [4, 3, 2, 1]) {
    assert.deepEqual(answer(good.id, wrong(good.code)), { triesLeft });
    assert.deepEqual(answer(bad.id, wrong(bad.code)), { triesLeft });
  }
  assert.ok('token' in answer(good.id, good.code));
  assert.throws(() => answer(bad.id, wrong(bad.code)), /wrong 5 times/);
  assert.throws(() => answer(bad.id, bad.code), /wrong 5 times/);
});

test('a code is good for ten minutes', (t) => {
  const { start, answer } = setUp(t);
  const [good, bad] = [start(), start()];
  assert.ok('token' in answer(good.id, good.code, 10 * minute - 1));
  assert.throws(() => answer(bad.id, bad.code, 10 * minute), /expired/);
});

test('an address gets five codes within an hour, whatever the environment', (t) => {
  const { start } = setUp(t);
  for (const i of [0, 1, 2, 3, 4]) start(i * minute, { ...you, environment: `com.acme.${i}` });
  assert.throws(() => start(5 * minute), /5 codes within an hour.*Try again in 55 minutes/);
  assert.throws(() => start(60 * minute - 1), /Try again in 1 minutes?/);
  start(5 * minute, { email: 'other@acme.com', environment: 'com.acme.other' });
  start(60 * minute);
  assert.throws(() => start(60 * minute), /5 codes within an hour/);
});

test('a code that could not be sent does not count', (t) => {
  const { store, start } = setUp(t);
  for (let i = 0; i < 20; i++) cancelVerification(store, start().id);
  start();
});

test('the first address to verify an environment owns it', (t) => {
  const { start, answer, verify, store } = setUp(t);
  const early = start(0, { email: 'late@acme.com', environment: 'com.acme' });
  const token = verify();
  const other = { email: 'other@acme.com', environment: 'com.acme' };
  assert.throws(() => start(0, other), /com\.acme belongs to another/);
  assert.throws(() => answer(early.id, early.code), /com\.acme belongs to another/);
  assert.equal(store.environments.findByToken(token), 'com.acme');
  verify({ ...other, environment: 'com.acme.other' });
});

test('an address gets no code for an environment that is not of its domain, whether or not it has an owner', (t) => {
  const { store, start } = setUp(t);
  const squatter = { email: 'attacker@evil.test', environment: 'com.acme' };
  assert.throws(() => start(0, squatter), /com\.acme is not of the domain evil\.test/);
  assert.equal(store.environments.owner('com.acme'), undefined);
});

test('who owned an environment of another domain before keeps the token, and gets no new one by mail', (t) => {
  const { store, start } = setUp(t);
  const before = { email: 'you@gmail.com', environment: 'com.acme' };
  const token = store.transaction(() => issueOwnerToken(store, before.environment, before.email, 0)) ?? '';
  assert.throws(() => start(0, before), /Anybody can get an address at gmail\.com/);
  assert.equal(store.environments.findByToken(token), 'com.acme');
  assert.equal(store.environments.owner('com.acme'), 'you@gmail.com');
});

test('asking without answering owns nothing', (t) => {
  const { start, verify } = setUp(t);
  start();
  verify({ ...you, email: 'other@acme.com' });
});

test("a new token stops the one before, and leaves the demo's alone", (t) => {
  const { store, verify } = setUp(t);
  const demo = provisionEnvironmentToken(store, 'com.acme', 0);
  const [first, second] = [verify(), verify()];
  const environments = [first, second, demo].map((token) => store.environments.findByToken(token));
  assert.deepEqual(environments, [undefined, 'com.acme', 'com.acme']);
});

test('codes leave the file once they count for nothing', (t) => {
  const { store, start } = setUp(t);
  const db = new DatabaseSync(store.file);
  t.after(() => db.close());
  const count = () => Number(db.prepare('SELECT count(*) AS n FROM verification_codes').get()?.['n']);
  start(0);
  start(1);
  assert.equal(count(), 2);
  start(60 * minute);
  assert.equal(count(), 2);
});

test('codes are not in the file as they are', (t) => {
  const { store, start } = setUp(t);
  const { code } = start();
  for (const file of [store.file, `${store.file}-wal`]) assert.ok(!readFileSync(file).includes(code));
});

test('environment names are words joined by periods', () => {
  for (const name of ['com.example', 'acme', 'com.acme-2.x_y', 'de.bücher'])
    assert.ok(isEnvironmentName(name), name);
  for (const name of ['', '.', 'a..b', '.a', 'a.', 'a b', 'a/b', 'a\n', '../x', 'x'.repeat(201)]) {
    assert.ok(!isEnvironmentName(name), name);
  }
});
