import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangeCache } from '../../../service/src/storage/changes/change-cache.ts';
import { StorageUnavailableError } from '../../../service/src/storage/errors.ts';

const setUp = () => {
  const state = { isCurrent: true, allowStale: true };
  const trust = { isCurrent: () => state.isCurrent, allowStale: () => state.allowStale };
  return { state, cache: new ChangeCache<string>(trust, 10) };
};
const never = async (): Promise<string> => assert.fail('It was read again.');

test('a value is cached until its change is announced', async () => {
  const { cache } = setUp();
  assert.equal(await cache.get('a', async () => '1'), '1');
  assert.equal(await cache.get('a', never), '1');
  cache.invalidate((key) => key === 'b');
  assert.equal(await cache.get('a', never), '1');
  cache.invalidate((_, value) => value === '1');
  assert.equal(await cache.get('a', async () => '2'), '2');
  cache.invalidate();
  assert.equal(await cache.get('a', async () => '3'), '3');
});

test('a missing value is not cached', async () => {
  const { cache } = setUp();
  assert.equal(await cache.get('a', async () => undefined), undefined);
  assert.equal(await cache.get('a', async () => '1'), '1');
});

test('a read that began before a change was announced does not restore the old value', async () => {
  const { cache } = setUp();
  const { promise, resolve } = Promise.withResolvers<string>();
  const reading = cache.get('a', () => promise);
  cache.invalidate((key) => key === 'a');
  resolve('old');
  // It was pending when the change came, so its caller may still have the old value.
  assert.equal(await reading, 'old');
  assert.equal(await cache.get('a', async () => 'new'), 'new');
});

test('a cached value is not used while changes may have gone unnoticed', async () => {
  const { state, cache } = setUp();
  await cache.get('a', async () => '1');
  state.isCurrent = false;
  assert.equal(await cache.get('a', async () => '2'), '2');
  assert.equal(await cache.get('a', async () => '3'), '3');
  state.isCurrent = true;
  assert.equal(await cache.get('a', never), '3');
});

test('a cached value is used while the database is unavailable, for as long as that is allowed', async () => {
  const { state, cache } = setUp();
  const unavailable = async () => {
    throw new StorageUnavailableError(new Error('away'));
  };
  await cache.get('a', async () => '1');
  state.isCurrent = false;
  assert.equal(await cache.get('a', unavailable), '1');
  await assert.rejects(cache.get('b', unavailable), StorageUnavailableError);
  const fault = async () => assert.fail('a fault');
  await assert.rejects(cache.get('a', fault), /a fault/);
  state.allowStale = false;
  await assert.rejects(cache.get('a', unavailable), StorageUnavailableError);
});

test('a cached value is used when the database does not answer', async () => {
  const { state, cache } = setUp();
  await cache.get('a', async () => '1');
  state.isCurrent = false;
  assert.equal(await cache.get('a', () => new Promise(() => {})), '1');
});

test('a value with an announced change is not used while the database is unavailable', async () => {
  const { state, cache } = setUp();
  await cache.get('a', async () => '1');
  state.isCurrent = false;
  const changing = async () => {
    cache.invalidate();
    throw new StorageUnavailableError(new Error('away'));
  };
  await assert.rejects(cache.get('a', changing), StorageUnavailableError);
});
