import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangeCache } from '../../../service/src/storage/changes/change-cache.ts';

const setUp = () => {
  const state = { isCurrent: true };
  return { state, cache: new ChangeCache<string>(() => state.isCurrent, 10) };
};
const never = async (): Promise<string> => assert.fail('It was read again.');

test('what was read is remembered until it is said to have changed', async () => {
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

test('what is not there is not remembered', async () => {
  const { cache } = setUp();
  assert.equal(await cache.get('a', async () => undefined), undefined);
  assert.equal(await cache.get('a', async () => '1'), '1');
});

test('a read that began before a change was known does not bring the old value back', async () => {
  const { cache } = setUp();
  const { promise, resolve } = Promise.withResolvers<string>();
  const reading = cache.get('a', () => promise);
  cache.invalidate((key) => key === 'a');
  resolve('old');
  // It was under way when the change came, so that its own caller may have the old value still.
  assert.equal(await reading, 'old');
  assert.equal(await cache.get('a', async () => 'new'), 'new');
});

test('what is remembered is not used while it may have changed unknown', async () => {
  const { state, cache } = setUp();
  await cache.get('a', async () => '1');
  state.isCurrent = false;
  assert.equal(await cache.get('a', async () => '2'), '2');
  assert.equal(await cache.get('a', async () => '3'), '3');
  state.isCurrent = true;
  assert.equal(await cache.get('a', never), '3');
});
