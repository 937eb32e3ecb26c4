import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { toNodeHandler } from '../../src/server/to-node-handler.ts';
import { createTokenEndpoint } from '../../src/server/token-endpoint.ts';
import { listen as listenWith } from '../server/raw-request.ts';
import { draftPath, listen, source } from '../service/harness.ts';
import { lastRequest, requestBytes, sendRaw } from './raw-socket.ts';

/** A request that is answered with 2xx as it stands. */
interface FramedRequest {
  /** The request line, and the headers but for those that say how long the body is. */
  lines: readonly string[];
  body: string;
}

const chunked = (body: string, size = body.length.toString(16)) => `${size}\r\n${body}\r\n0\r\n\r\n`;

/**
 * Spellings of a request of which a proxy and a server may read different ends, with `smuggled` behind: to one of them
 * it is part of the body, to the other the next request on the connection, such as another user's.
 */
function ambiguousFraming({ lines, body }: FramedRequest, smuggled: string): [name: string, bytes: string][] {
  const { length } = body;
  const framed = (headers: readonly string[], sent: string) =>
    requestBytes([...lines, ...headers], sent + smuggled);
  const withLength = (...values: string[]) =>
    framed(
      values.map((value) => `Content-Length:${value}`),
      body,
    );
  const withCoding = (coding: string, ...others: string[]) =>
    framed([`Transfer-Encoding:${coding}`, ...others], chunked(body));
  const inChunks = (sent: string) => framed(['Transfer-Encoding: chunked'], sent);
  const lengthOf = `Content-Length: ${length}`;
  return [
    ['a length beside chunks', withCoding(' chunked', lengthOf)],
    ['chunks beside a length', framed([lengthOf, 'Transfer-Encoding: chunked'], chunked(body))],
    [
      'a length of all there is, beside chunks',
      framed(
        [`Content-Length: ${chunked(body).length + smuggled.length}`, 'Transfer-Encoding: chunked'],
        chunked(body),
      ),
    ],
    ['a space before the colon of the coding', framed(['Transfer-Encoding : chunked', lengthOf], body)],
    ['a coding on a line of its own', withCoding('\r\n chunked', lengthOf)],
    ['a coding that is none', withCoding(' xchunked')],
    ['a coding in quotes', withCoding(' "chunked"')],
    ['a coding after a vertical tab', withCoding(' \u000bchunked')],
    ['identity beside a length', framed(['Transfer-Encoding: identity', lengthOf], body)],
    ['chunks that are not the last coding', withCoding(' chunked, identity')],
    ['two codings', withCoding(' chunked', 'Transfer-Encoding: chunked')],
    ['two codings that differ', withCoding(' chunked', 'Transfer-Encoding: x')],
    ['the same length twice', withLength(` ${length}`, ` ${length}`)],
    ['two lengths', withLength(` ${length}`, ' 0')],
    ['a list of lengths', withLength(` ${length}, ${length}`)],
    ['a length with a plus', withLength(` +${length}`)],
    ['a negative length', withLength(' -1')],
    ['a length in hexadecimal', withLength(` 0x${length.toString(16)}`)],
    ['a length with a fraction', withLength(` ${length}.0`)],
    ['a length past 64 bits', withLength(` ${(2n ** 64n + BigInt(length)).toString()}`)],
    ['a length in two parts', withLength(` ${length} 0`)],
    ['an empty length', withLength('')],
    ['a space before the colon of the length', framed([`Content-Length : ${length}`], body)],
    ['a header on two lines', framed([lengthOf, 'X-A: a\r\n b'], body)],
    ['a length behind a bare line feed', framed([`X-A: a\n${lengthOf}`], body)],
    [
      'a coding behind a bare carriage return',
      framed(['X-A: a\rTransfer-Encoding: chunked', lengthOf], body),
    ],
    ['a coding behind NUL', framed(['X-A: a\0Transfer-Encoding: chunked', lengthOf], body)],
    ['a space in the name of a header', framed([lengthOf, 'X A: b'], body)],
    ['a header without a colon', framed([lengthOf, 'X-A'], body)],
    ['line feeds alone', `${[...lines, lengthOf].join('\n')}\n\n${body}${smuggled}`],
    ['carriage returns alone', `${[...lines, lengthOf].join('\r')}\r\r${body}${smuggled}`],
    ['a chunk with a plus', inChunks(chunked(body, `+${length.toString(16)}`))],
    ['a chunk in 0x', inChunks(chunked(body, `0x${length.toString(16)}`))],
    ['a chunk past 64 bits', inChunks(chunked(body, `1${length.toString(16).padStart(16, '0')}`))],
    ['a chunk with a space behind its size', inChunks(chunked(body, `${length.toString(16)} `))],
    ['a line feed in the extension of a chunk', inChunks(chunked(body, `${length.toString(16)};a\nb`))],
    ['chunks of line feeds', inChunks(chunked(body).replaceAll('\r\n', '\n'))],
    ['a chunk that ends without a line break', inChunks(`${length.toString(16)}\r\n${body}0\r\n\r\n`)],
    ['a chunk longer than its size', inChunks(chunked(body, (length - 1).toString(16)))],
    [
      'a length behind the last chunk',
      inChunks(`${length.toString(16)}\r\n${body}\r\n0\r\nContent-Length: 5\r\n\r\n`),
    ],
  ];
}

interface Server {
  port: number;
  /** A request that is granted. */
  granted: FramedRequest;
  /** Another one, and the words by which its response is known. */
  smuggled: string;
  expected: RegExp;
  /** One that ends the connection, and the same of it. */
  last: string;
  lastAnswer: RegExp;
}

async function startService(t: TestContext): Promise<Server> {
  const { port, editorToken } = await listen(t);
  const token = await editorToken();
  const host = `Host: 127.0.0.1:${port}`;
  return {
    port,
    granted: {
      lines: [
        `POST ${draftPath} HTTP/1.1`,
        host,
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
      ],
      body: JSON.stringify(source),
    },
    smuggled: requestBytes(['GET /api/v1/features HTTP/1.1', host]),
    expected: /"languages"/,
    last: lastRequest(['GET /api/v2/template/javascript/the-end HTTP/1.1', host]),
    lastAnswer: /the-end/,
  };
}

async function startTokenEndpoint(t: TestContext): Promise<Server> {
  const endpoint = createTokenEndpoint({
    access: { getEditorToken: ({ ext }) => Promise.resolve({ token: `token-for-${ext}` }) },
    authorize: () => 'com.acme.t1',
  });
  const server = await listenWith(toNodeHandler(endpoint));
  t.after(() => server[Symbol.asyncDispose]());
  const { port } = server;
  const headers = [`Host: 127.0.0.1:${port}`, 'Sec-Fetch-Site: same-origin'];
  return {
    port,
    granted: {
      lines: ['POST /token HTTP/1.1', ...headers, 'Content-Type: application/json'],
      body: JSON.stringify({ ident: 'com.acme.t1', fn: 'one' }),
    },
    smuggled: requestBytes(['GET /token?ident=com.acme.t1&fn=smuggled HTTP/1.1', ...headers]),
    expected: /token-for-smuggled/,
    last: lastRequest(['GET /token?ident=com.acme.t1&fn=the-end HTTP/1.1', ...headers]),
    lastAnswer: /token-for-the-end/,
  };
}

for (const [name, start] of [
  ['the service', startService],
  ['the token endpoint', startTokenEndpoint],
] as const) {
  describe(`a request that ${name} gets over a connection of its own`, () => {
    test('is answered, and so is a complete one behind it, without which the next tests would prove nothing', async (t) => {
      const { port, granted, smuggled, expected: answer, last, lastAnswer } = await start(t);
      const { length } = granted.body;
      for (const [headers, body] of [
        [[`Content-Length: ${length}`], granted.body],
        [
          ['Transfer-Encoding: chunked'],
          `${length.toString(16)};x=y\r\n${granted.body}\r\n0\r\nX-A: b\r\n\r\n`,
        ],
      ] as const) {
        const got = await sendRaw(port, requestBytes([...granted.lines, ...headers], body + smuggled + last));
        assert.deepEqual(got.statuses, [200, 200, 200], got.text);
        assert.match(got.text, answer);
        assert.match(got.text, lastAnswer);
      }
    });

    test('is refused where its end is ambiguous, and nothing behind it is answered', async (t) => {
      const { port, granted, smuggled, expected: answer } = await start(t);
      for (const [what, bytes] of ambiguousFraming(granted, smuggled)) {
        const { statuses, text } = await sendRaw(port, bytes);
        assert.deepEqual(statuses, [400], `${what}: ${text}`);
        assert.doesNotMatch(text, answer, what);
      }
    });

    test('is one request, whatever its body says, even if it is refused before the body is read', async (t) => {
      const { port, granted, smuggled, expected: answer, last, lastAnswer } = await start(t);
      const [, host = ''] = granted.lines;
      const path = granted.lines[0]?.split(' ')[1] ?? '';
      const body = [`Content-Length: ${smuggled.length}`];
      for (const [what, lines] of [
        ['no right to it', [`POST ${path} HTTP/1.1`, host]],
        ['no such method', [`PUT ${path} HTTP/1.1`, host]],
        ['no such path', ['POST /nothing/here HTTP/1.1', host]],
        ['another type', [...granted.lines.slice(0, -1), 'Content-Type: text/plain']],
        ['not JSON', granted.lines],
        ['another host', [`POST ${path} HTTP/1.1`, 'Host: evil.example']],
        ['a body of a HEAD', [`HEAD ${path} HTTP/1.1`, host]],
        ['a body of a GET', [`GET ${path} HTTP/1.1`, host]],
        ['a body of OPTIONS', [`OPTIONS ${path} HTTP/1.1`, host]],
      ] as const) {
        const { statuses, text } = await sendRaw(port, requestBytes([...lines, ...body], smuggled + last));
        // It may close the connection instead of reading what it has refused.
        assert.equal(statuses.length, lastAnswer.test(text) ? 2 : 1, `${what}: ${text}`);
        assert.doesNotMatch(text, answer, what);
      }
    });

    test('with an invalid head of HTTP/1.1 is refused', async (t) => {
      const { port, granted, expected: answer } = await start(t);
      const [, host = ''] = granted.lines;
      const path = granted.lines[0]?.split(' ')[1] ?? '';
      for (const lines of [
        [`GET ${path}`],
        [`GET ${path} HTTP/1.2`, host],
        [`GET ${path} HTTP/1.1`],
        [`GET ${path} HTTP/1.1`, 'Host:'],
        [`GET ${path} HTTP/1.1`, ` ${host}`],
        [`GET ${path} HTTP/1.1`, `${host}\0`],
        [`GET ${path} HTTP/1.1`, `${host}, evil.example`],
        [`GET ${path} HTTP/1.1`, host.replace(' ', ' evil@')],
        [`GET ${path} HTTP/1.1`, `${host}/x`],
        [`GET ${path} HTTP/1.1`, `${host}#x`],
        [`GET ${path} HTTP/1.1`, `${host}\\x`],
        [`get ${path} HTTP/1.1`, host],
        [`SMUGGLE ${path} HTTP/1.1`, host],
        [`GET ${path} ${path} HTTP/1.1`, host],
        [`GET ${path}\t HTTP/1.1`, host],
        [`GET ${path.slice(1)} HTTP/1.1`, host],
        [`GET ${path}\u00e4 HTTP/1.1`, host],
        ['PRI * HTTP/2.0', '', 'SM'],
      ]) {
        const { statuses, text } = await sendRaw(port, lastRequest(lines));
        assert.deepEqual(statuses, [400], `${lines.join(' | ')}: ${text}`);
        assert.doesNotMatch(text, answer);
      }
      // Neither is a tunnel to somewhere else.
      assert.deepEqual(
        (await sendRaw(port, lastRequest(['CONNECT evil.example:443 HTTP/1.1', host]))).text,
        '',
      );
    });
  });
}

test('only the Host header names the service, and only with a name of its own', async (t) => {
  const { port } = await startService(t);
  const own = `127.0.0.1:${port}`;
  const path = '/api/v1/features';
  for (const [target, hosts] of [
    [path, [own, 'evil.example']],
    [path, ['evil.example', own]],
    [path, [own, own]],
    [path, [`2130706433:${port}`]],
    [path, [`127.0.0.1.:${port}`]],
    [`http://evil.example${path}`, [own]],
    [`http://evil.example${path}`, ['evil.example']],
    [`http://${own}${path}`, ['evil.example']],
  ] as const) {
    const lines = [`GET ${target} HTTP/1.1`, ...hosts.map((host) => `Host: ${host}`)];
    assert.deepEqual((await sendRaw(port, lastRequest(lines))).statuses, [421], lines.join(' | '));
  }
  for (const header of ['X-Forwarded-Host: 127.0.0.1', 'Forwarded: host=127.0.0.1', `X-Host: ${own}`]) {
    const { statuses } = await sendRaw(
      port,
      lastRequest([`GET ${path} HTTP/1.1`, 'Host: evil.example', header]),
    );
    assert.deepEqual(statuses, [421], header);
  }
  for (const target of [`file:///etc/passwd`, '*', `//evil.example${path}`]) {
    const { statuses, text } = await sendRaw(port, lastRequest([`GET ${target} HTTP/1.1`, `Host: ${own}`]));
    assert.ok(statuses.length === 1 && [400, 404].includes(statuses[0] ?? 0), text);
  }
});

test('no header turns a request into another one than its first line says', async (t) => {
  const { port, granted } = await startService(t);
  const [, host = '', authorization = ''] = granted.lines;
  const sendRequest = (...more: string[]) =>
    sendRaw(port, lastRequest([`GET ${draftPath} HTTP/1.1`, host, authorization, ...more]));
  for (const header of [
    'X-HTTP-Method-Override: POST',
    'X-HTTP-Method: DELETE',
    'X-Method-Override: PUT',
    'X-Original-URL: /api/v1/features',
    'X-Rewrite-URL: /api/v1/features',
    'X-Original-Method: POST',
    'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  ]) {
    // There is no draft: what reads it says so.
    const { statuses, text } = await sendRequest(header);
    assert.deepEqual(statuses, [404], header);
    assert.match(text, /draft-not-found/, header);
  }
});
