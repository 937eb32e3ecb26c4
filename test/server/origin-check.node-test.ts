import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  ADDRESS,
  FIELDS,
  OWN,
  PARTNER,
  pageRequest,
  readResponse,
  startEndpoint,
} from './endpoint-fixture.ts';

const SITES = [
  undefined,
  'same-origin',
  'same-site',
  'cross-site',
  'none',
  '',
  'Same-Origin',
  'same-origin, none',
];
const ORIGINS = [
  undefined,
  OWN,
  PARTNER,
  'null',
  '',
  'https://evil.example',
  'http://app.example',
  'https://app.example:8443',
  'https://sub.app.example',
  'https://app.example.evil.example',
  `${OWN}/`,
  `${PARTNER}.evil.example`,
  `${PARTNER}/`,
  'HTTPS://PARTNER.EXAMPLE',
  `${PARTNER}, ${PARTNER}`,
];

/** Written out as rows, columns and cells of a table, rather than computed as the code does it. */
const ACCEPTED = [
  ...ORIGINS.map((origin) => `same-origin|${origin}`),
  ...SITES.map((site) => `${site}|${PARTNER}`),
  `undefined|${OWN}`,
];

describe('the origin check', () => {
  for (const method of ['POST', 'GET']) {
    for (const site of SITES) {
      for (const origin of ORIGINS) {
        const accepted = ACCEPTED.includes(`${site}|${origin}`);
        const row = `${method}, Sec-Fetch-Site: ${site}, Origin: ${origin}`;
        test(`${accepted ? 'accepts' : 'refuses'} ${row}`, async () => {
          await using at = await startEndpoint({ allowedOrigins: [PARTNER] });
          const headers = {
            'content-type': 'application/json',
            ...(site !== undefined && { 'sec-fetch-site': site }),
            ...(origin !== undefined && { origin }),
          };
          const request =
            method === 'POST'
              ? new Request(ADDRESS, { method, headers, body: JSON.stringify(FIELDS) })
              : new Request(`${ADDRESS}?${new URLSearchParams(FIELDS)}`, { headers });
          const response = await readResponse(await at.endpoint(request));
          assert.equal(response.status, accepted ? 200 : 403);
          assert.equal(response.code, accepted ? undefined : 'origin-not-allowed');
          assert.equal((await at.builderRequests()).length, accepted ? 1 : 0);
          const shared = origin === PARTNER;
          assert.equal(response.headers.get('access-control-allow-origin'), shared ? PARTNER : null);
          assert.equal(response.headers.get('access-control-allow-credentials'), shared ? 'true' : null);
          assert.equal(response.headers.get('vary'), 'origin');
        });
      }
    }
  }

  test('allows no other origin by default', async () => {
    await using at = await startEndpoint();
    const response = await at.sendRequest(FIELDS, { 'sec-fetch-site': 'cross-site', origin: PARTNER });
    assert.equal(response.status, 403);
  });

  test('comes first, so that a foreign page learns nothing from a status', async () => {
    let calls = 0;
    await using at = await startEndpoint({ authorize: () => `${++calls}` });
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    for (const [body, headers, init] of [
      [FIELDS, {}, { method: 'DELETE' }],
      [FIELDS, { 'content-type': 'text/plain' }, {}],
      ['x'.repeat(5000), {}, {}],
      ['{', {}, {}],
    ] as const) {
      assert.equal((await at.sendRequest(body, { ...headers, ...foreign }, init)).status, 403);
    }
    assert.equal(calls, 0);
  });

  test('compares with the origin of the request’s own URL', async () => {
    await using at = await startEndpoint();
    const requestFrom = (address: string, origin: string) =>
      at.endpoint(
        new Request(address, {
          method: 'POST',
          headers: { origin, 'content-type': 'application/json' },
          body: JSON.stringify(FIELDS),
        }),
      );
    assert.equal((await requestFrom('http://127.0.0.1:5173/t', 'http://127.0.0.1:5173')).status, 200);
    assert.equal((await requestFrom('http://127.0.0.1:5173/t', 'http://127.0.0.1:5174')).status, 403);
    assert.equal((await requestFrom('https://app.example:443/t', 'https://app.example')).status, 200);
  });

  test('explains in its response which pages are allowed', async () => {
    await using at = await startEndpoint();
    const { message, headers } = await readResponse(
      await at.endpoint(pageRequest(FIELDS, { 'sec-fetch-site': 'none' })),
    );
    assert.match(message, /allowedOrigins/);
    assert.equal(headers.get('cache-control'), 'no-store');
  });
});
