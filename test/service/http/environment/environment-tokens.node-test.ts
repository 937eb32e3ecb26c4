import assert from 'node:assert/strict';
import { test } from 'node:test';
import { provisionEnvironmentToken } from '../../../../service/src/accounts/environment-token.ts';
import { startVendor } from './vendor.ts';

const path = '/api/v1/environment/com.acme/tokens';

interface Listed {
  tokens: { id: string; holder: string; createdAt: string; endsAt?: string }[];
  next?: string;
}
type Created = { id: string; token: string };

test('a new token belongs to the holder that asked, whose previous tokens end after the overlap', async (t) => {
  const { send, okay, refusal, clock, environmentToken, startNode } = await startVendor(t);
  const other = await startNode();
  const first = await okay<Listed>(send('GET', path));
  assert.deepEqual(
    first.tokens.map(({ holder, createdAt, endsAt }) => [holder, createdAt, endsAt]),
    [['demo', '2026-01-01T00:00:00.000Z', undefined]],
  );
  clock.now += 1000;
  const made = await okay<Created>(send('POST', path), 201);
  assert.match(made.token, /^pe_env_/);
  const second = await okay<Listed>(send('GET', path, undefined, made.token));
  assert.deepEqual(
    second.tokens.map(({ id, holder, endsAt }) => [id, holder, endsAt]),
    [
      [first.tokens[0]?.id, 'demo', '2026-01-01T01:00:01.000Z'],
      [made.id, 'demo', undefined],
    ],
  );
  const session = await okay<{ expires_in: number }>(send('GET', '/api/v1/session'));
  assert.equal(session.expires_in, 3600);
  // A longer overlap prolongs nothing.
  const third = await okay<Created>(send('POST', path, { overlap: 86_400 }, made.token), 201);
  const list = await okay<Listed>(send('GET', path, undefined, third.token));
  assert.deepEqual(
    list.tokens.map(({ endsAt }) => endsAt),
    ['2026-01-01T01:00:01.000Z', '2026-01-02T00:00:01.000Z', undefined],
  );
  clock.now += 3_600_000;
  for (const node of [{ send }, other]) {
    assert.equal(await refusal(node.send('GET', path, undefined, environmentToken)), '401 token-invalid');
    await okay(node.send('GET', path, undefined, made.token));
  }
  const now = await okay<Created>(send('POST', path, { overlap: 0 }, third.token), 201);
  for (const token of [made.token, third.token]) {
    assert.equal(await refusal(other.send('GET', path, undefined, token)), '401 token-invalid');
  }
  await okay(other.send('GET', path, undefined, now.token));
});

test('each holder has tokens of its own, and each token can be ended by its id', async (t) => {
  const { send, okay, refusal, storage } = await startVendor(t);
  const billing = await okay<Created>(send('POST', path, { holder: 'billing', overlap: 0 }), 201);
  const { tokens } = await okay<Listed>(send('GET', path));
  assert.deepEqual(
    tokens.map(({ holder }) => holder),
    ['demo', 'billing'],
  );
  assert.equal(await refusal(send('DELETE', `${path}/x`)), '404 token-not-found');
  const stranger = await provisionEnvironmentToken(storage, 'org.other');
  assert.equal(
    await refusal(send('DELETE', `/api/v1/environment/org.other/tokens/${billing.id}`, undefined, stranger)),
    '404 token-not-found',
  );
  await okay(send('GET', '/api/v1/session', undefined, billing.token));
  await okay(send('DELETE', `${path}/${billing.id}`), 204);
  assert.equal(await refusal(send('GET', '/api/v1/session', undefined, billing.token)), '401 token-invalid');
  assert.equal(await refusal(send('DELETE', `${path}/${billing.id}`)), '404 token-not-found');
});

test('an invalid request for a token is refused, and ends no token', async (t) => {
  const { send, okay, refusal } = await startVendor(t);
  for (const body of [
    { holder: '' },
    { holder: null },
    { holder: 'x'.repeat(201) },
    { holder: 'a\nb' },
    { overlap: -1 },
    { overlap: 86_401 },
    { overlap: 1.5 },
    { overlap: '1' },
  ]) {
    assert.equal(await refusal(send('POST', path, body)), '422 invalid-body', JSON.stringify(body));
  }
  assert.equal(await refusal(send('POST', path, { holder: '\ud800' })), '400 invalid-text');
  const { tokens } = await okay<Listed>(send('GET', path));
  assert.deepEqual(
    tokens.map(({ endsAt }) => endsAt),
    [undefined],
  );
});

test('tokens are listed page by page', async (t) => {
  const { send, okay } = await startVendor(t);
  for (let i = 0; i < 4; i++) await okay(send('POST', path, { holder: `holder ${i}` }), 201);
  const holders: string[] = [];
  let after = '';
  do {
    const page = await okay<Listed>(send('GET', `${path}?limit=2${after}`));
    holders.push(...page.tokens.map(({ holder }) => holder));
    after = page.next === undefined ? '' : `&after=${page.next}`;
  } while (after);
  assert.deepEqual(holders, ['demo', 'holder 0', 'holder 1', 'holder 2', 'holder 3']);
});
