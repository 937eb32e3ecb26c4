import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { inspect, promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

import { HttpError, NetworkError, SchemaError, TimeoutError } from '../../src/client.ts';
import { PluginEditorError } from '../../src/core/errors.ts';
import { readText, request } from '../../src/core/request.ts';
import { getToken } from '../../src/core/token.ts';
import { freePort } from '../support/free-port.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';
import { head, rawServer } from './raw-server.ts';
import { rejection, textOf } from '../support/rejection.ts';
import { HELD, holdTimer, watchTimers } from './timers.ts';

const SECRET = 'tok-5ecret';
const json = `{"token":"${SECRET}"}`;
/** A time limit that differs from the delay of every other timer. */
const timeout = 54_321;

const token = (url: string, fields: { timeout?: number; signal?: AbortSignal } = {}) =>
  getToken(
    {
      tokenEndpoint: url,
      base: 'http://vendor.example/',
      tokenMethod: 'post',
      credentials: 'same-origin',
      timeout: fields.timeout ?? timeout,
    },
    {
      ident: 'com.acme.t',
      namespace: 'default',
      fn: 'f',
      signal: fields.signal ?? new AbortController().signal,
    },
  );

/** Responses that violate HTTP, or end too early. */
const broken: [name: string, text: string][] = [
  ['a closed connection', ''],
  ['half of the headers', 'HTTP/1.1 200 OK\r\ncontent-ty'],
  ['fewer bytes than announced', head('200 OK', 'content-length: 5000') + json],
  ['a chunked body without its end', head('200 OK', 'transfer-encoding: chunked') + `5\r\n{"tok\r\n`],
  ['an invalid header', head('200 OK', `bad header ${json}`) + json],
  ['an invalid chunk size', head('200 OK', 'transfer-encoding: chunked') + `zz${json}\r\n`],
  ['a response that is not HTTP', json],
];
for (const [name, text] of broken) {
  test(`${name} is a lost connection: it is retried twice, and no error holds any of its text`, async () => {
    const timers = watchTimers({ limit: timeout });
    try {
      await using server = await rawServer((socket) => socket.end(text));
      const error = await rejection<NetworkError>(request({ url: server.url, timeout }, readText));
      assert.ok(error instanceof NetworkError, inspect(error));
      assert.equal(error.attempts, 3);
      assert.equal(server.requests.length, 3);
      assert.ok(error.cause instanceof Error && error.cause.message, 'the cause says nothing');

      const shown = await rejection<PluginEditorError>(token(server.url));
      assert.equal(shown.code, 'token-network');
      assert.equal(shown.attempts, 3);
      for (const failure of [error, shown]) {
        assert.doesNotMatch(textOf(failure) + inspect(failure, { depth: 9, showHidden: true }), /5ecret/);
      }
    } finally {
      timers.restore();
    }
  });
}

test('a refused connection is a NetworkError whose cause says so', async () => {
  const port = await freePort();
  const error = await rejection(request({ url: `http://127.0.0.1:${port}/`, retry: 0 }, readText));
  assert.ok(error instanceof NetworkError);
  assert.match(String(error.cause), /ECONNREFUSED/);
});

/** How each server continues after half of the body, until its time is over. */
const slow: [name: string, go: (socket: Socket) => Promise<void>][] = [
  ['a body that stops in the middle', () => Promise.resolve()],
  [
    'a body that drips',
    (socket) =>
      new Promise((resolve) => {
        let drops = 0;
        const drip = setInterval(() => {
          socket.write(' ');
          drops += 1;
          if (drops === 5) resolve();
        }, 20);
        socket.once('close', () => clearInterval(drip));
      }),
  ],
];
for (const [name, go] of slow) {
  test(`${name} ends in a TimeoutError without a retry, and its connection is closed`, async (t) => {
    // Restored after the test.
    const { mock } = t.mock.method(globalThis, 'setTimeout');
    const fire = holdTimer(2000);
    const closed = Promise.withResolvers<void>();
    const slowed = Promise.withResolvers<void>();
    const responded = Promise.withResolvers<void>();
    await using server = await rawServer((socket) => {
      socket.once('close', () => closed.resolve());
      socket.write(head('200 OK', 'content-length: 1000000') + json);
      slowed.resolve(go(socket));
    });
    const observed = async (...args: Parameters<typeof fetch>) => {
      const response = await fetch(...args);
      responded.resolve();
      return response;
    };
    const end = rejection<TimeoutError>(
      request({ url: server.url, timeout: 2000, fetch: observed }, readText),
    );
    await Promise.all([responded.promise, slowed.promise]);
    // Not begun anew by what comes of the body.
    assert.equal(mock.calls.filter(({ arguments: [, delay] }) => delay === HELD).length, 1);
    fire();
    const error = await end;
    assert.ok(error instanceof TimeoutError, inspect(error));
    assert.equal(error.attempts, 1);
    assert.doesNotMatch(textOf(error), /5ecret/);
    await closed.promise;
    assert.equal(server.requests.length, 1);
  });
}

test('a token response that stops midway ends in token-timeout', async () => {
  await using server = await rawServer((socket) => socket.write(head('200 OK') + json.slice(0, -2)));
  const error = await rejection<PluginEditorError>(token(server.url, { timeout: 300 }));
  assert.deepEqual([error.code, error.attempts], ['token-timeout', 1]);
  assert.doesNotMatch(textOf(error), /5ecret/);
});

test('aborting in the middle of the body rejects with the reason and closes the connection', async () => {
  const closed = Promise.withResolvers<void>();
  const abort = new AbortController();
  const reason = new Error('enough');
  await using server = await rawServer((socket) => {
    socket.once('close', () => closed.resolve());
    socket.write(head('200 OK', 'content-length: 1000') + json, () => abort.abort(reason));
  });
  assert.equal(await rejection(request({ url: server.url, signal: abort.signal }, readText)), reason);
  await closed.promise;
  assert.equal(server.requests.length, 1);
});

test('an endless response is rejected as soon as it is too large, and its connection is closed', async () => {
  const closed = Promise.withResolvers<void>();
  await using server = await rawServer((socket) => {
    socket.once('close', () => closed.resolve());
    socket.write(head('200 OK', 'content-type: application/json'));
    const more = () => {
      while (!socket.destroyed && socket.write(SECRET.repeat(1000)));
    };
    socket.on('drain', more);
    more();
  });
  const error = await rejection<PluginEditorError>(token(server.url));
  assert.deepEqual([error.code, error.attempts], ['token-invalid', 1]);
  assert.match(error.message, /larger than 65536 bytes/);
  assert.doesNotMatch(textOf(error), /5ecret/);
  await closed.promise;
});

test('an error response with an endless body does not keep its connection open', async () => {
  const closed = Promise.withResolvers<void>();
  await using server = await rawServer((socket) => {
    socket.once('close', () => closed.resolve());
    socket.write(head('404 Not Found', 'content-length: 1000') + json);
  });
  const error = await rejection(request({ url: server.url }, readText));
  assert.ok(error instanceof HttpError);
  assert.equal(error.status, 404);
  await closed.promise;
});

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect with ${status} is rejected with its status, and not followed`, async () => {
    await using server = await startScriptedServer({ path: '/x', redirect: '/sign-in', status });
    const error = await rejection<HttpError>(request({ url: server.url('/x') }, readText));
    assert.ok(error instanceof HttpError);
    assert.deepEqual([error.status, error.redirect, error.attempts], [status, true, 1]);

    const shown = await rejection<PluginEditorError>(token(server.url('/x')));
    assert.deepEqual([shown.code, shown.status], ['token-redirect', status]);
    assert.deepEqual(
      (await server.requests()).map(({ path }) => path),
      ['/x', '/x'],
    );
  });
}

test('a compressed body counts by its decompressed size', async () => {
  const packed = gzipSync(`"${'x'.repeat(100_000)}"`);
  assert.ok(packed.length < 1000);
  await using server = await rawServer((socket) => {
    socket.write(head('200 OK', 'content-encoding: gzip'));
    socket.end(packed);
  });
  const read = (response: Response, label: string) => readText(response, label, 65_536);
  const error = await rejection(request({ url: server.url }, read));
  assert.ok(error instanceof SchemaError);
});

/** Runs a script in a separate process, which can only exit when nothing is left running. */
async function runToItsEnd(script: string): Promise<string> {
  const source = `
    import { BuilderClient } from ${JSON.stringify(new URL('../../src/client.ts', import.meta.url).href)};
    ${script}`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 200_000 });
  return stdout.trim();
}

/** Far longer than the process may take. */
const LONG = 600_000;

test('no timer or connection keeps the process running after the calls have ended', async () => {
  await using server = await startScriptedServer(
    { path: '/ok/*', json: { features: [], languages: [] } },
    { path: '/again/*', times: 1, status: 503, headers: { 'retry-after': '0' } },
    { path: '/again/*', status: 404 },
    { path: '/hang/*', delay: 'hang' },
    { path: '/wait/*', status: 503, headers: { 'retry-after': '30' } },
  );
  const printed = await runToItsEnd(`
    const ask = (name, options = {}, signal = undefined) =>
      new BuilderClient({ baseUrl: ${JSON.stringify(server.url())} + '/' + name, timeout: ${LONG}, ...options })
        .getFeatures({ signal })
        .then(() => 'ok', (error) => error.name);
    const abort = new AbortController();
    const ended = Promise.all([
      ask('ok'), ask('again'), ask('hang', { timeout: 200 }),
      ask('hang', {}, abort.signal), ask('wait', {}, abort.signal),
      ask('ok', { token: () => new Promise(() => {}) }, abort.signal),
    ]);
    await ask('ok');
    setTimeout(() => abort.abort(), 500);
    console.log((await ended).join());
  `);
  assert.equal(printed, 'ok,HttpError,TimeoutError,AbortError,AbortError,AbortError');
});
