import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TokenHolder } from '../../../editor/src/service/token-holder.ts';
import { HttpError } from 'plugin-editor/client.js';

/** A builder that takes one token alone. */
function builderFor(tokenHolder: TokenHolder, valid: string) {
  const sent: string[] = [];
  const request = () => {
    sent.push(tokenHolder.token);
    return tokenHolder.token === valid
      ? Promise.resolve('done')
      : Promise.reject(new HttpError('GET draft', 401, undefined));
  };
  return { sent, request };
}

describe('TokenHolder', () => {
  test('asks for one token when several requests fail together, and sends each once more', async () => {
    let renewals = 0;
    const tokenHolder = new TokenHolder('old', async () => `new-${++renewals}`);
    const { sent, request } = builderFor(tokenHolder, 'new-1');
    assert.deepEqual(await Promise.all([tokenHolder.use(request), tokenHolder.use(request)]), [
      'done',
      'done',
    ]);
    assert.deepEqual(sent, ['old', 'old', 'new-1', 'new-1']);
    assert.equal(renewals, 1);
  });

  test('uses a token that arrived meanwhile without asking', async () => {
    const tokenHolder = new TokenHolder('old', () => assert.fail('asked'));
    const { sent, request } = builderFor(tokenHolder, 'new');
    const done = tokenHolder.use(request);
    tokenHolder.token = 'new';
    assert.equal(await done, 'done');
    assert.deepEqual(sent, ['old', 'new']);
  });

  test('does not ask again and again when the new token is refused, too', async () => {
    let renewals = 0;
    const tokenHolder = new TokenHolder('old', async () => `bad-${++renewals}`);
    const { sent, request } = builderFor(tokenHolder, 'good');
    await assert.rejects(tokenHolder.use(request), { status: 401 });
    assert.deepEqual(sent, ['old', 'bad-1']);
  });

  test('returns the refusal when no token can be had', async () => {
    for (const tokenHolder of [
      new TokenHolder('old'),
      new TokenHolder('old', () => Promise.reject(new Error('signed out'))),
    ]) {
      const { sent, request } = builderFor(tokenHolder, 'good');
      await assert.rejects(tokenHolder.use(request), { name: 'HttpError', status: 401 });
      assert.deepEqual(sent, ['old']);
    }
  });

  test('passes any other failure on unchanged', async () => {
    const tokenHolder = new TokenHolder('old', () => assert.fail('asked'));
    await assert.rejects(
      tokenHolder.use(() => Promise.reject(new HttpError('GET draft', 403, undefined))),
      { status: 403 },
    );
  });
});
