import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, describe, test } from 'node:test';
import {
  HttpError,
  NetworkError,
  SchemaError,
  TimeoutError,
  pluginSourceSchema,
} from 'plugin-editor/client.js';
import { operationUrl, parseRetryAfter, requestJson } from '../../../editor/src/service/request.ts';

type Handler = Parameters<typeof createServer>[1];

/** A server that answers as the test says, and what it was asked for. */
async function setUp(t: TestContext, handler: NonNullable<Handler>) {
  const paths: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url);
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const readDraft = (more: { signal?: AbortSignal; timeout?: number } = {}) =>
    requestJson(pluginSourceSchema, {
      url: `${origin}/draft`,
      headers: { authorization: 'Bearer s3cret' },
      ...more,
    });
  return { paths, server, readDraft };
}

describe('a request of the editor to the service', () => {
  test('encodes each segment of an address', () => {
    assert.equal(
      operationUrl('https://b.example/base', 'draft', 'com.acme.t1', 'a/b', 'ä?#'),
      'https://b.example/base/api/v1/draft/com.acme.t1/a%2Fb/%C3%A4%3F%23',
    );
  });

  test('sends the token without cookies, and keeps fields that the schema does not name', async (t) => {
    const { readDraft } = await setUp(t, ({ headers }, response) => {
      response.setHeader('etag', '"1"');
      response.end(
        JSON.stringify({ contents: headers.authorization, lang: 'x', more: headers.cookie ?? 'none' }),
      );
    });
    const { data, headers } = await readDraft();
    assert.deepEqual(data, { contents: 'Bearer s3cret', lang: 'x', more: 'none' });
    assert.equal(headers.get('etag'), '"1"');
  });

  test('does not follow a redirect, nor send the token to its target', async (t) => {
    const { paths, readDraft } = await setUp(t, (_, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    await assert.rejects(readDraft(), (error) => error instanceof HttpError && error.redirect);
    assert.deepEqual(paths, ['/draft']);
  });

  for (const [what, body, path] of [
    ['is not JSON', '<h1>s3cret</h1>', ''],
    ['is of another shape', '{"contents":{"s3cret":1},"lang":"x"}', 'contents'],
    ['is empty', '', ''],
  ] as const) {
    test(`rejects a response that ${what} with a SchemaError that does not quote it`, async (t) => {
      const { readDraft } = await setUp(t, (_, response) => response.end(body));
      await assert.rejects(readDraft(), (error) => {
        assert.ok(error instanceof SchemaError);
        assert.equal(error.path, path);
        assert.doesNotMatch(error.message, /s3cret/);
        return true;
      });
    });
  }

  test('refuses a response longer than 8 MiB, and ends its connection', async (t) => {
    const closed = Promise.withResolvers<void>();
    const { readDraft } = await setUp(t, (_, response) => {
      response.once('close', () => closed.resolve());
      const write = () => {
        while (!response.destroyed && response.write(' '.repeat(2 ** 16)));
      };
      response.on('drain', write);
      write();
    });
    await assert.rejects(readDraft(), /larger than 8388608 bytes/);
    await closed.promise;
  });

  test('rejects with a TimeoutError when the response is late, or incomplete when the time is over', async (t) => {
    const { readDraft } = await setUp(t, (_, response) => void response.write('{"contents":'));
    await assert.rejects(readDraft({ timeout: 100 }), (error) => {
      assert.ok(error instanceof TimeoutError);
      assert.match(error.message, /\/draft did not answer within 100 ms/);
      return true;
    });
  });

  test('rejects with the reason of a signal that aborts', async (t) => {
    const controller = new AbortController();
    const reason = new Error('another plugin was opened');
    const { readDraft } = await setUp(t, () => controller.abort(reason));
    await assert.rejects(readDraft({ signal: controller.signal }), reason);
    await assert.rejects(readDraft({ signal: controller.signal }), reason);
  });

  test('rejects with a NetworkError when the connection is lost, before or within the response', async (t) => {
    const { server, readDraft } = await setUp(t, (_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"contents":', () => response.destroy());
    });
    await assert.rejects(readDraft(), NetworkError);
    server.close();
    await assert.rejects(readDraft(), NetworkError);
  });

  test('reads how long a service asks to wait', () => {
    const now = Date.parse('Thu, 01 Jan 2026 12:00:00 GMT');
    const wait = (retryAfter: string, date?: string) =>
      parseRetryAfter(new Headers({ 'retry-after': retryAfter, ...(date ? { date } : {}) }), now);
    assert.equal(wait('2'), 2000);
    assert.equal(wait('Thu, 01 Jan 2026 12:00:30 GMT'), 30_000);
    // The service's clock is an hour ahead of this one.
    assert.equal(wait('Thu, 01 Jan 2026 13:00:05 GMT', 'Thu, 01 Jan 2026 13:00:00 GMT'), 5000);
    assert.equal(wait('Thu, 01 Jan 2026 11:00:00 GMT'), 0);
    for (const unusable of ['', '-1', '1.5', 'soon', 'soon GMT']) assert.equal(wait(unusable), undefined);
  });
});
