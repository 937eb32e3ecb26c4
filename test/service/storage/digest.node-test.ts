import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { serializeSource } from '../../../service/src/storage/tables/digest.ts';

describe('the digest of a source', () => {
  const digestOf = async (tests: Record<string, unknown>[]) =>
    (await serializeSource({ lang: 'javascript', contents: 'run', tests })).sourceDigest;

  it('does not depend on the order of a test’s members, at any depth', async () => {
    assert.equal(
      await digestOf([{ name: 'one', payload: 'x', calls: [{ url: 'u', method: 'GET' }] }]),
      await digestOf([{ calls: [{ method: 'GET', url: 'u' }], payload: 'x', name: 'one' }]),
    );
  });

  it('is that of versions which an earlier release deployed', async () => {
    const sorted = '["javascript","run",[{"name":"one","payload":"x"},{"name":"two"}]]';
    assert.equal(
      await digestOf([{ payload: 'x', name: 'one' }, { name: 'two' }]),
      createHash('sha256').update(sorted).digest('hex'),
    );
  });
});
