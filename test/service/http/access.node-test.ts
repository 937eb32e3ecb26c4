import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessPath, bearer, draftPath, errorOf, source, startService } from '../harness.ts';

test('an environment token is exchanged for an editor token, whose response states its lifetime', async (t) => {
  const { fetch, environmentToken } = await startService(t, { editorTokenTtl: 60 });
  const response = await fetch(accessPath, { headers: bearer(await environmentToken()) });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const { token, ...others } = (await response.json()) as { token: string };
  assert.deepEqual(others, { expires_in: 60, permissions: ['read', 'write', 'deploy'] });
  assert.match(token, /^pe_edit_[\w-]{43}$/);
});

test('both interfaces answer 401 with a challenge to a request without a valid token', async (t) => {
  const { fetch, environmentToken, editorToken } = await startService(t);
  const [environment, editor] = [await environmentToken(), await editorToken()];
  const headers: (Record<string, string> | undefined)[] = [
    undefined,
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: 'Basic eDp5' },
    bearer('pe_edit_' + 'A'.repeat(43)),
    bearer('pe_env_' + 'A'.repeat(43)),
    bearer('a b'),
  ];
  for (const path of [accessPath, draftPath]) {
    const wrongKind = path === accessPath ? editor : environment;
    for (const one of [...headers, bearer(wrongKind)]) {
      const response = await fetch(path, one && { headers: one });
      assert.equal(response.headers.get('www-authenticate'), 'Bearer');
      assert.equal((await errorOf(response)).status, 401);
    }
  }
});

test('the scheme of the authorization header is read in upper and lower case', async (t) => {
  const { fetch, environmentToken } = await startService(t);
  const response = await fetch(accessPath, {
    headers: { authorization: `bEARER ${await environmentToken()}` },
  });
  assert.equal(response.status, 200);
});

test('an environment token opens exactly its own environment', async (t) => {
  const { fetch, environmentToken } = await startService(t);
  const token = await environmentToken('com.acme');
  await environmentToken('com');
  for (const identifier of ['com.other.t1', 'com.acme.sub.t1', 'com.acme', 'Com.acme.t1', 'com.acme%20.t1']) {
    const error = await errorOf(
      await fetch(`/auth/v2/access/${identifier}/default/x`, { headers: bearer(token) }),
    );
    assert.deepEqual([error.status, error.code], [403, 'forbidden'], identifier);
  }
});

test('an identifier without environment or tenant is answered with 400', async (t) => {
  const { fetch, environmentToken } = await startService(t);
  for (const identifier of ['acme', '.t1', 'com.acme.']) {
    const error = await errorOf(
      await fetch(`/auth/v2/access/${identifier}/default/x`, { headers: bearer(await environmentToken()) }),
    );
    assert.deepEqual([error.status, error.code], [400, 'invalid-path'], identifier);
  }
});

test('an editor token reads and saves its own plugin only', async (t) => {
  const { fetch, environmentToken, editorToken, save } = await startService(t);
  await environmentToken('org.other');
  const token = await editorToken();
  for (const path of [
    'com.acme.t2/default/add-record',
    'com.acme.t1/other/add-record',
    'com.acme.t1/default/other',
    'org.other.t1/default/add-record',
  ]) {
    const read = await errorOf(await fetch(`/api/v1/draft/${path}`, { headers: bearer(token) }));
    const saved = await errorOf(await save(token, source, {}, `/api/v1/draft/${path}`));
    assert.deepEqual([read.status, saved.status], [403, 403], path);
  }
  assert.equal((await save(token)).status, 200);
});

test('a lifetime that is not a whole number of seconds is refused at the start', async (t) => {
  for (const editorTokenTtl of [0, -1, 1.5, NaN, Infinity]) {
    await assert.rejects(startService(t, { editorTokenTtl }), /EDITOR_TOKEN_TTL/);
  }
});
