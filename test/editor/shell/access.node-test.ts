import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Access } from '../../../editor/src/shell/access.ts';
import { HttpError } from '../../../src/client.ts';

/** A builder that takes one token alone. */
function builderFor(access: Access, valid: string) {
  const sent: string[] = [];
  const request = () => {
    sent.push(access.token);
    return access.token === valid
      ? Promise.resolve('done')
      : Promise.reject(new HttpError('GET draft', 401, undefined));
  };
  return { sent, request };
}

test('requests that fail together ask for one token, and are each sent once more', async () => {
  let asked = 0;
  const access = new Access('old', async () => `new-${++asked}`);
  const { sent, request } = builderFor(access, 'new-1');
  assert.deepEqual(await Promise.all([access.use(request), access.use(request)]), ['done', 'done']);
  assert.deepEqual(sent, ['old', 'old', 'new-1', 'new-1']);
  assert.equal(asked, 1);
});

test('a token that came meanwhile is used without asking', async () => {
  const access = new Access('old', () => assert.fail('asked'));
  const { sent, request } = builderFor(access, 'new');
  const done = access.use(request);
  access.token = 'new';
  assert.equal(await done, 'done');
  assert.deepEqual(sent, ['old', 'new']);
});

test('a new token that is refused too is not asked for again and again', async () => {
  let asked = 0;
  const access = new Access('old', async () => `bad-${++asked}`);
  const { sent, request } = builderFor(access, 'good');
  await assert.rejects(access.use(request), { status: 401 });
  assert.deepEqual(sent, ['old', 'bad-1']);
});

test('where no token is to be had, the answer stands', async () => {
  for (const access of [
    new Access('old'),
    new Access('old', () => Promise.reject(new Error('signed out'))),
  ]) {
    const { sent, request } = builderFor(access, 'good');
    await assert.rejects(access.use(request), { name: 'HttpError', status: 401 });
    assert.deepEqual(sent, ['old']);
  }
});

test('any other failure passes as it is', async () => {
  const access = new Access('old', () => assert.fail('asked'));
  await assert.rejects(
    access.use(() => Promise.reject(new HttpError('GET draft', 403, undefined))),
    { status: 403 },
  );
});
