import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PluginTarget } from '../../src/server/plugin-target.ts';
import {
  ADDRESS,
  FIELDS,
  IDENT,
  OWN,
  type Read,
  pageRequest,
  readResponse,
  startEndpoint,
} from './endpoint-fixture.ts';

/** An endpoint that authorizes everyone, and records the targets. */
async function start() {
  const targets: PluginTarget[] = [];
  const at = await startEndpoint({
    authorize: (_, target) => {
      targets.push(target);
      return target.ident;
    },
  });
  return { ...at, targets, [Symbol.asyncDispose]: () => at[Symbol.asyncDispose]() };
}

const query = (text: string) =>
  new Request(`${ADDRESS}?${text}`, { headers: { 'sec-fetch-site': 'same-origin' } });

function assertRefused({ status, headers, code, message }: Read, expected: [number, string, RegExp]): void {
  assert.equal(status, expected[0]);
  assert.equal(code, expected[1]);
  assert.match(message, expected[2]);
  assert.equal(headers.get('content-type'), 'application/json');
  assert.equal(headers.get('cache-control'), 'no-store');
}

const padded = (bytes: number) => JSON.stringify(FIELDS).padEnd(bytes, ' ');
const inParts = (...parts: string[]) =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });

describe('the target', () => {
  test('is read from a JSON body', async () => {
    await using at = await start();
    const body = { ident: 'com.acme.eu.customer-7', namespace: 'reports', fn: 'Ünï/cödé', extra: 1 };
    assert.equal((await at.sendRequest(body)).status, 200);
    assert.deepEqual(at.targets, [
      {
        ident: 'com.acme.eu.customer-7',
        environment: 'com.acme.eu',
        tenant: 'customer-7',
        namespace: 'reports',
        fn: 'Ünï/cödé',
      },
    ]);
    const [request] = await at.builderRequests();
    assert.equal(
      request?.path,
      '/auth/v2/access/com.acme.eu.customer-7/reports/%C3%9Cn%C3%AF%2Fc%C3%B6d%C3%A9',
    );
  });

  test('is read from a query', async () => {
    await using at = await start();
    const text = new URLSearchParams({ ident: IDENT, namespace: 'a b', fn: 'c&d' }).toString();
    assert.equal((await at.endpoint(query(text))).status, 200);
    assert.deepEqual(
      at.targets.map(({ ident, namespace, fn }) => ({ ident, namespace, fn })),
      [{ ident: IDENT, namespace: 'a b', fn: 'c&d' }],
    );
  });

  test('has the namespace `default` when none is given', async () => {
    await using at = await start();
    await at.sendRequest({ ident: IDENT, fn: 'f' });
    await at.endpoint(query(`ident=${IDENT}&fn=f`));
    assert.deepEqual(
      at.targets.map(({ namespace }) => namespace),
      ['default', 'default'],
    );
  });

  test('cannot be changed by authorize', async () => {
    await using at = await startEndpoint({
      authorize: (_, target) => {
        assert.throws(() => Object.assign(target, { fn: 'other' }), TypeError);
        return IDENT;
      },
    });
    assert.equal((await at.sendRequest()).status, 200);
  });

  for (const method of ['PUT', 'PATCH', 'DELETE', 'HEAD', 'REPORT']) {
    test(`is not read from ${method}, which gets 405 and the allowed methods`, async () => {
      await using at = await start();
      const init = method === 'HEAD' ? { method, body: null } : { method };
      const response = await at.sendRequest(FIELDS, {}, init);
      assertRefused(response, [405, 'method-not-allowed', /POST .* GET/]);
      assert.equal(response.headers.get('allow'), 'POST, GET, OPTIONS');
    });
  }

  for (const type of [
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
    'text/plain; application/json',
    'application/jsonp',
    'application/problem+json',
    'text/json',
    'application/json, text/plain',
  ]) {
    test(`is not read from content-type ${type}, which gets 415`, async () => {
      await using at = await start();
      const bytes = new TextEncoder().encode(JSON.stringify(FIELDS));
      const response = await at.sendRequest(bytes, { 'content-type': type });
      assertRefused(response, [415, 'unsupported-media-type', /application\/json/]);
    });
  }

  for (const type of [
    'application/json',
    'application/json;charset=utf-8',
    'Application/JSON ; charset="UTF-8"',
  ]) {
    test(`is read from content-type ${type}`, async () => {
      await using at = await start();
      assert.equal((await at.sendRequest(FIELDS, { 'content-type': type })).status, 200);
    });
  }

  for (const [name, status, body, headers] of [
    ['4096 bytes', 200, padded(4096), {}],
    ['4097 bytes', 413, padded(4097), {}],
    ['4097 bytes of fewer characters', 413, JSON.stringify({ ...FIELDS, fn: 'ü'.repeat(2100) }), {}],
    ['4097 bytes in parts', 413, inParts(padded(4000), ' '.repeat(97)), {}],
    ['4096 bytes in parts', 200, inParts(padded(4000), ' '.repeat(96)), {}],
    ['4097 bytes in parts that claim to be 10', 413, inParts(padded(4097)), { 'content-length': '10' }],
    ['a claim of 4097 bytes', 413, padded(100), { 'content-length': '4097' }],
    ['a letter that two parts share', 200, JSON.stringify({ ...FIELDS, fn: 'ü' }), {}],
  ] as const) {
    test(`gets ${status} with a body of ${name}`, async () => {
      await using at = await start();
      const request = new Request(ADDRESS, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
        body,
        duplex: 'half',
      } as RequestInit);
      const response = await readResponse(await at.endpoint(request));
      if (status === 200) assert.equal(response.status, 200);
      else assertRefused(response, [413, 'too-large', /body .* 4096 bytes/]);
      assert.equal((await at.builderRequests()).length, status === 200 ? 1 : 0);
    });
  }

  test('is not read from an endless body, which is abandoned', async () => {
    await using at = await start();
    let pulls = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulls++;
        controller.enqueue(new Uint8Array(1024));
      },
    });
    const response = await at.endpoint(pageRequest('', {}, { body: endless, duplex: 'half' } as RequestInit));
    assert.equal(response.status, 413);
    assert.ok(pulls < 20, `${pulls} parts were read`);
  });

  test('gets 413 with a query of more than 4096 characters', async () => {
    await using at = await start();
    const response = await readResponse(await at.endpoint(query(`ident=${IDENT}&fn=${'x'.repeat(4096)}`)));
    assertRefused(response, [413, 'too-large', /query .* 4096 bytes/]);
  });

  const JSON_BODY = /^The body must be JSON/;
  const OBJECT = /^The body must be a JSON object/;
  for (const [body, message] of [
    ['', JSON_BODY],
    ['{', JSON_BODY],
    [`ident=${IDENT}&fn=f`, JSON_BODY],
    [`${JSON.stringify(FIELDS)}x`, JSON_BODY],
    [new Uint8Array([0x22, 0xff, 0x22]), /UTF-8/],
    [new Uint8Array([0x22, 0xc3]), /UTF-8/],
    ['null', OBJECT],
    ['[]', OBJECT],
    ['"text"', OBJECT],
    ['7', OBJECT],
    ['{}', /^ident must/],
    [{ ...FIELDS, ident: 7 }, /^ident must/],
    [{ ...FIELDS, ident: null }, /^ident must/],
    [{ ...FIELDS, ident: [IDENT] }, /^ident must/],
    [{ ...FIELDS, ident: '' }, /^ident must/],
    [{ ...FIELDS, ident: 'nodot' }, /^ident must be an environment, a period and a tenant/],
    [{ ...FIELDS, ident: '.tenant' }, /^ident must be an environment, a period and a tenant/],
    [{ ...FIELDS, ident: 'com.acme.' }, /^ident must be an environment, a period and a tenant/],
    [{ ...FIELDS, ident: '...tenant' }, /^The environment in ident must/],
    [{ ...FIELDS, ident: 'com.\ud800' }, /^ident must/],
    [{ ...FIELDS, fn: undefined }, /^fn must/],
    [{ ...FIELDS, fn: '' }, /^fn must/],
    [{ ...FIELDS, fn: '..' }, /^fn must/],
    [{ ...FIELDS, fn: { toString: 1 } }, /^fn must/],
    [{ ...FIELDS, fn: 'x\udc00' }, /^fn must/],
    [{ ...FIELDS, namespace: '' }, /^namespace must/],
    [{ ...FIELDS, namespace: '.' }, /^namespace must/],
    [{ ...FIELDS, namespace: null }, /^namespace must/],
    [`{"__proto__":${JSON.stringify(FIELDS)}}`, /^ident must/],
  ] as const) {
    const shown = body instanceof Uint8Array ? `bytes ${body.join(' ')}` : JSON.stringify(body);
    test(`is not read from ${shown}, which gets 400`, async () => {
      await using at = await start();
      assertRefused(await at.sendRequest(body), [400, 'bad-request', message]);
      assert.deepEqual(at.targets, []);
      assert.deepEqual(await at.builderRequests(), []);
      assert.deepEqual(at.errors, []);
    });
  }

  for (const [text, message] of [
    ['', /^ident must/],
    [`ident=${IDENT}`, /^fn must/],
    ['ident=nodot&fn=f', /^ident must/],
    [`ident=${IDENT}&fn=f&fn=g`, /^fn must be given once/],
    [`ident=${IDENT}&ident=com.acme.other&fn=f`, /^ident must be given once/],
    [`ident=${IDENT}&fn=%2e%2e`, /^fn must/],
    [`ident=${IDENT}&namespace=&fn=f`, /^namespace must/],
  ] as const) {
    test(`is not read from the query ?${text}, which gets 400`, async () => {
      await using at = await start();
      assertRefused(await readResponse(await at.endpoint(query(text))), [400, 'bad-request', message]);
      assert.deepEqual(await at.builderRequests(), []);
    });
  }

  test('is not read from a body that ends early, which gets 400', async () => {
    await using at = await start();
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) });
    const request = new Request(`${OWN}/t`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body,
      duplex: 'half',
    } as RequestInit);
    assertRefused(await readResponse(await at.endpoint(request)), [400, 'bad-request', /whole/]);
  });

  test('is not read from a body that was already consumed, which gets 500 and calls onError', async () => {
    await using at = await start();
    const request = pageRequest();
    await request.text();
    assert.equal((await at.endpoint(request)).status, 500);
    assert.match((at.errors[0] as Error).message, /body was read .* request\.clone\(\)/);
  });
});
