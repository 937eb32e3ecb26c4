import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, isIP } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { BrotliDecompress, brotliCompressSync, Gunzip, gzipSync } from 'node:zlib';
import { isPublicAddress } from '../../../service/src/outbound/addresses.ts';
import { CallError } from '../../../service/src/outbound/call-error.ts';
import { Guard } from '../../../service/src/outbound/guard.ts';
import type { GuardedRequest, GuardOptions } from '../../../service/src/outbound/guard.ts';
import { temporaryDirectory } from '../harness.ts';
import { authority } from './certificates.ts';
import { startUpstream } from './upstream.ts';

const upstream = await startUpstream();
const secure = await startUpstream(true);
const origin = `http://upstream.test:${upstream.port}`;

const names: Record<string, readonly string[]> = {
  'upstream.test': ['127.0.0.1'],
  'acme.tenants.test': ['127.0.0.1'],
  'elsewhere.test': ['127.0.0.1'],
  'mixed.example': ['93.184.216.34', '10.0.0.5'],
  'none.example': [],
};
const lookedUp: string[] = [];
const resolve = async (name: string) => {
  lookedUp.push(name);
  const found = names[name];
  if (!found) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
  return found;
};

const allow = [
  origin,
  `https://upstream.test:${secure.port}`,
  `https://acme.tenants.test:${secure.port}`,
  `https://elsewhere.test:${secure.port}`,
];
const guards: Guard[] = [];
function makeGuard(options: GuardOptions = {}): Guard {
  const made = new Guard({ allow, resolve, ca: authority, ...options });
  guards.push(made);
  return made;
}
const guard = makeGuard();

after(async () => {
  await Promise.all(guards.map((one) => one.close()));
  await upstream[Symbol.asyncDispose]();
  await secure[Symbol.asyncDispose]();
});
afterEach(() => {
  upstream.reset();
  secure.reset();
  lookedUp.length = 0;
});

const owner = { environment: 'com.example', tenant: 'acme', token: '' };
const usual = { method: 'GET', headers: [], owner, timeout: 60_000, maxBytes: 1024 * 1024 } as const;
const request = (url: string, changed: Partial<GuardedRequest> = {}, by = guard) =>
  by.request(new URL(url), { ...usual, ...changed });

/** The error of a request, which must be one that plugins may see. */
async function refusal(url: string, changed: Partial<GuardedRequest> = {}, by = guard): Promise<CallError> {
  const error = await request(url, changed, by).then(
    () => assert.fail(`${url} was reached`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CallError, String(error));
  const namesAddress = isIP(new URL(url).hostname.replace(/[[\]]/g, '')) > 0;
  if (!namesAddress) assert.doesNotMatch(error.message, /127\.0\.0\.1|10\.0\.0\.5|93\.184/);
  return error;
}

const textOf = (body: Uint8Array) => Buffer.from(body).toString();

describe('a public address', () => {
  for (const address of ['8.8.8.8', '93.184.216.34', '2606:4700::1111', '::ffff:8.8.8.8']) {
    test(`is ${address}`, () => assert.equal(isPublicAddress(address), true));
  }

  const others = `
    0.0.0.0 10.1.1.1 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1
    192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::ffff:10.0.0.1 ::ffff:7f00:1 64:ff9b::7f00:1 64:ff9b:1::7f00:1 100::1 2001::1 2001:2::1 2001:20::1
    2001:db8::1 3fff::1 2002:7f00:1:: fc00::1 fd00::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 5f00::1 x`;
  for (const address of [...others.trim().split(/\s+/), '']) {
    test(`is not "${address}"`, () => assert.equal(isPublicAddress(address), false));
  }
});

describe('what may be reached', () => {
  for (const [address, what] of [
    ['127.0.0.1', 'this machine'],
    ['::1', 'this machine by IPv6'],
    ['169.254.169.254', 'the metadata of a cloud'],
    ['64:ff9b::a00:1', 'a private address by NAT64'],
    ['::ffff:10.0.0.1', 'a private address within IPv6'],
  ] as const) {
    test(`is no name that leads to ${what}`, async () => {
      const by = makeGuard({ resolve: async () => [address] });
      const error = await refusal('https://sly.example/', {}, by);
      assert.equal(error.code, 'address-refused');
      assert.equal(
        error.message,
        'sly.example may not be reached: it leads to an address that is not public.',
      );
    });
  }

  test('is no name with one private address among its addresses', async () => {
    assert.equal((await refusal('https://mixed.example/')).code, 'address-refused');
  });

  for (const url of [
    'http://example.com/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://0/',
    'https://%31%32%37.1/',
    'https://127。0。0。1/',
    'https://①②⑦.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::127.0.0.1]/',
    'https://93.184.216.34/',
    'https://localhost/',
    'https://localhost./',
    'https://intranet/',
    'https://example.com./',
    'https://*.example.com/',
    `https://${'a'.repeat(64)}.example.com/`,
    `https://${'a.'.repeat(124)}example.com/`,
  ]) {
    test(`is not ${url}, unless it is listed`, async () => {
      const error = await refusal(url);
      assert.equal(error.code, 'address-refused');
      assert.match(error.message, /unless the operator lists it in OUTBOUND_ALLOW\.$/);
      assert.deepEqual(lookedUp, []);
    });
  }

  test('is a listed origin alone, not another port of its host', async () => {
    const { status } = await request(`${origin}/`);
    assert.equal(status, 200);
    const other = makeGuard({ allow: [`http://127.0.0.1:${upstream.port}`] });
    assert.equal((await request(`http://127.0.0.1:${upstream.port}/`, {}, other)).status, 200);
    assert.equal((await refusal(`http://127.0.0.1:${secure.port}/`, {}, other)).code, 'address-refused');
  });

  test('is not this service, unless it is listed', async () => {
    const by = makeGuard({ hosts: ['plugins.example.com', 'internal.example.com:8443'] });
    for (const url of ['https://plugins.example.com/', 'https://internal.example.com:8443/']) {
      const error = await refusal(url, {}, by);
      assert.equal(error.code, 'address-refused');
      assert.match(error.message, /it must not be this service/);
    }
    const host = new URL(origin).host;
    assert.equal((await request(`${origin}/`, {}, makeGuard({ hosts: [host] }))).status, 200);
  });

  test('is nothing with OUTBOUND=off', async () => {
    assert.equal((await refusal(`${origin}/`, {}, makeGuard({ isOn: false }))).code, 'address-refused');
    assert.equal(upstream.requests.length, 0);
  });
});

test('a name that changes its address is looked up once, and the address that was checked is connected to', async () => {
  const answers = [['127.0.0.1'], ['10.0.0.5']];
  let count = 0;
  const by = makeGuard({ resolve: async () => answers[count++] ?? [] });
  // Two connections, because the first response has not ended when the second request begins.
  const responses = await Promise.all([request(`${origin}/a`, {}, by), request(`${origin}/b`, {}, by)]);
  assert.deepEqual([responses.map(({ status }) => status), count], [[200, 200], 1]);
});

test('a name without an address is unreachable, and not looked up again at once', async (t) => {
  // All ask at the same time, however long this process stands still between two of them.
  const now = performance.now();
  t.mock.method(performance, 'now', () => now);
  for (const name of ['none.example', 'unknown.example']) {
    lookedUp.length = 0;
    for (let i = 0; i < 3; i++) {
      const error = await refusal(`https://${name}/`);
      assert.deepEqual([error.code, error.message], ['unreachable', `The host ${name} has no address.`]);
    }
    assert.deepEqual(lookedUp, [name]);
  }
});

test('look-ups that hang leave those of another environment their turn', async () => {
  const hanging = Promise.withResolvers<readonly string[]>();
  const by = makeGuard({
    resolve: (name) => (name.startsWith('slow') ? hanging.promise : resolve(name)),
  });
  const ended = new AbortController();
  const slow = Array.from({ length: 20 }, (_, i) =>
    request(`https://slow${i}.example/`, { signal: ended.signal }, by).catch((error: unknown) => error),
  );
  const other = { ...owner, environment: 'com.other' };
  assert.equal((await request(`${origin}/`, { owner: other }, by)).status, 200);
  ended.abort(new Error('the test is done'));
  assert.equal(await slow[0], ended.signal.reason);
  hanging.resolve([]);
  await Promise.all(slow);
});

describe('a request', () => {
  test('sends method, headers and body, and nothing else that the caller could not know', async () => {
    const { status, statusText, headers, body } = await request(`${origin}/a/b?c=d`, {
      method: 'POST',
      headers: [
        ['content-type', 'text/plain'],
        ['accept-encoding', 'zstd'],
      ],
      body: Buffer.from('grüße'),
    });
    assert.deepEqual([status, statusText], [200, 'OK']);
    assert.deepEqual(Object.fromEntries(headers)['content-type'], 'application/json');
    assert.deepEqual(JSON.parse(textOf(body)), {
      method: 'POST',
      url: '/a/b?c=d',
      headers: {
        host: new URL(origin).host,
        connection: 'keep-alive',
        'content-type': 'text/plain',
        'accept-encoding': 'gzip, br',
        'content-length': '7',
      },
      body: 'grüße',
    });
  });

  const forbidden = `
    Host connection content-length Transfer-Encoding expect upgrade cookie te proxy-authorization
    sec-fetch-site X-HTTP-Method-Override x-method-override x-http-method x_http_method_override Transfer_Encoding`;
  for (const name of forbidden.trim().split(/\s+/)) {
    test(`cannot set ${name}`, async () => {
      const error = await refusal(`${origin}/`, { headers: [[name, '1']] });
      assert.deepEqual([error.code, error.message], ['not-granted', `The header ${name} cannot be set.`]);
    });
  }

  for (const [what, header] of [
    ['a second header in a value', ['x-a', 'b\r\nx-evil: 1']],
    ['a second request in a value', ['x-a', 'b\n\nGET /admin HTTP/1.1']],
    ['U+0000 in a value', ['x-a', 'b\0c']],
    ['characters of a value whose low bytes are a line break', ['x-a', '\u{10d}\u{10a}']],
    ['a second header in a name', ['x-a\r\nx-evil', '1']],
    ['a space in a name', ['x a', '1']],
    ['an empty name', ['', '1']],
  ] as const) {
    test(`cannot be split by ${what}`, async () => {
      assert.equal((await refusal(`${origin}/`, { headers: [header] })).code, 'not-granted');
      assert.equal(upstream.requests.length, 0);
    });
  }

  test('goes to no proxy that variables name', async (t) => {
    const saved = { ...process.env };
    t.after(() => (process.env = saved));
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'ALL_PROXY'])
      process.env[name] = 'http://127.0.0.1:1';
    process.env['NODE_USE_ENV_PROXY'] = '1';
    assert.equal((await request(`${origin}/`, {}, makeGuard())).status, 200);
  });
});

describe('a response', () => {
  test('that redirects is the response', async () => {
    upstream.handle = (_, response) => response.writeHead(302, { location: `${origin}/secret` }).end();
    const { status, headers } = await request(`${origin}/`);
    assert.equal(status, 302);
    assert.equal(Object.fromEntries(headers)['location'], `${origin}/secret`);
    assert.equal(upstream.requests.length, 1);
  });

  test('leaves no cookie', async () => {
    upstream.handle = ({ headers }, response) => {
      response.setHeader('set-cookie', 'id=1; Path=/');
      response.end(headers['cookie'] ?? 'none');
    };
    for (let i = 0; i < 2; i++) {
      const { headers, body } = await request(`${origin}/`);
      assert.equal(textOf(body), 'none');
      assert.ok(!headers.some(([name]) => name.toLowerCase() === 'set-cookie'));
    }
  });

  for (const [encoding, compress, decoder] of [
    ['gzip', gzipSync, Gunzip],
    ['br', brotliCompressSync, BrotliDecompress],
  ] as const) {
    test(`is decompressed from ${encoding}, up to its bound`, async ({ mock }) => {
      const { mock: ends } = mock.method(decoder.prototype, 'destroy');
      let size = 1000;
      upstream.handle = (_, response) => {
        response.setHeader('content-encoding', encoding);
        // Without a length.
        response.flushHeaders();
        response.end(compress(Buffer.alloc(size, 'x')));
      };
      const { headers, body } = await request(`${origin}/`, { maxBytes: 1000 });
      assert.equal(textOf(body), 'x'.repeat(1000));
      assert.ok(!headers.some(([name]) => name.toLowerCase() === 'content-encoding'));
      ends.resetCalls();
      size = 5 * 1024 * 1024;
      const error = await refusal(`${origin}/`, { maxBytes: 1000 });
      assert.deepEqual(
        [error.code, error.message],
        ['response-limit', `The response of ${new URL(origin).host} is larger than 1000 bytes.`],
      );
      assert.ok(ends.callCount() > 0, 'nothing is decompressed any more');
    });
  }

  test('is within its bound once it is decompressed, although its encoding has made it longer', async () => {
    const sent = randomBytes(1000);
    upstream.handle = (_, response) => {
      const body = gzipSync(sent);
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length }).end(body);
    };
    const { body } = await request(`${origin}/`, { maxBytes: sent.length });
    assert.ok(sent.equals(body));
  });

  test('may have one encoding, that was asked for and is whole', async () => {
    const bomb = gzipSync(gzipSync(Buffer.alloc(1000)));
    for (const [encoding, sent] of [
      ['gzip, gzip', bomb],
      // In two lines.
      [['gzip', 'gzip'], bomb],
      ['zstd', bomb],
      ['gzip', Buffer.from('not gzip')],
      ['gzip', gzipSync(Buffer.alloc(5000, 'x')).subarray(0, 30)],
    ] as const) {
      upstream.handle = (_, response) => {
        response.setHeader('content-encoding', encoding);
        response.end(sent);
      };
      assert.equal((await refusal(`${origin}/`)).code, 'unreachable', String(encoding));
    }
  });

  test('of a part is asked for as it is, because a part of a compressed body cannot be read', async () => {
    await request(`${origin}/`, { headers: [['Range', 'bytes=0-9']] });
    assert.equal(upstream.requests.at(-1)?.headers['accept-encoding'], 'identity');
  });

  for (const [method, length] of [
    ['HEAD', 999999],
    ['GET', 0],
  ] as const) {
    test(`to ${method} with the length ${length} has no body to decompress`, async () => {
      upstream.handle = (_, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': length }).end();
      const { status, body } = await request(`${origin}/`, { method, maxBytes: 10 });
      assert.deepEqual([status, body.length], [200, 0]);
    });
  }

  test('without end ends at its bound', async () => {
    upstream.handle = (_, response) => {
      const write = () => {
        while (response.write(Buffer.alloc(64 * 1024)));
      };
      response.on('drain', write);
      write();
    };
    assert.equal((await refusal(`${origin}/`)).code, 'response-limit');
  });

  test('in very many short chunks is given up', async () => {
    upstream.handle = (_, response) => {
      response.writeHead(200, { connection: 'close' }).flushHeaders();
      response.socket?.end(`${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`);
    };
    assert.equal((await refusal(`${origin}/`)).code, 'response-limit');
  });

  test('counts while it arrives', async () => {
    const counted = Promise.withResolvers<void>();
    let held = 0;
    const hold = (bytes: number) => {
      held += bytes;
      if (held >= 100_000) counted.resolve();
      return () => void (held -= bytes);
    };
    upstream.handle = (_, response) => {
      response.write(Buffer.alloc(100_000));
      void counted.promise.then(() => response.end());
    };
    assert.equal((await request(`${origin}/`, { hold })).body.byteLength, 100_000);
    assert.equal(held, 0);
  });

  test('that says it is too long is not read', async () => {
    upstream.handle = (_, response) =>
      response.writeHead(200, { 'content-length': '2000000' }).flushHeaders();
    assert.equal((await refusal(`${origin}/`)).code, 'response-limit');
  });

  test('with more headers than 16 KB is refused', async () => {
    upstream.handle = (_, response) => response.writeHead(200, { 'x-long': 'x'.repeat(17_000) }).end();
    assert.equal((await refusal(`${origin}/`)).code, 'response-limit');
  });

  for (const [what, handle] of [
    ['never comes', () => {}],
    [
      'drips',
      (_request, response) => {
        const timer = setInterval(() => response.write('x'), 10);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ] as const satisfies readonly (readonly [string, typeof upstream.handle])[]) {
    test(`that ${what} ends in time`, async () => {
      upstream.handle = handle;
      const error = await refusal(`${origin}/`, { timeout: 200 });
      assert.deepEqual(
        [error.code, error.message],
        ['call-timeout', `${new URL(origin).host} did not respond within 200 ms.`],
      );
    });
  }

  test('is given up, and its connection closed, where the signal is aborted', async () => {
    const aborted = new AbortController();
    const closed = Promise.withResolvers<void>();
    upstream.handle = (_, response) => {
      response.on('close', () => closed.resolve());
      aborted.abort(new Error('the run has ended'));
    };
    await assert.rejects(request(`${origin}/`, { signal: aborted.signal }), /the run has ended/);
    await closed.promise;
  });

  test('that is cut off, is not HTTP, or lies about its length is unreachable', async () => {
    const closed = 'it closed the connection';
    const notHttp = 'its response is not HTTP, or not whole';
    for (const [answer, reason] of [
      ['', closed],
      ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort', closed],
      ['HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n', notHttp],
      ['HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n', notHttp],
      ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', notHttp],
      ['SSH-2.0-OpenSSH_9.2\r\n', notHttp],
    ] as const) {
      const server = createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.end(answer));
      });
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      const { port } = server.address() as AddressInfo;
      const url = `http://upstream.test:${port}`;
      const error = await refusal(`${url}/`, {}, makeGuard({ allow: [url] }));
      assert.equal(error.code, 'unreachable', JSON.stringify(answer));
      assert.equal(error.message, `upstream.test:${port} could not be reached: ${reason}.`);
      await new Promise((ended) => server.close(ended));
    }
  });
});

describe('TLS', () => {
  test('is verified by the name that the plugin named', async () => {
    for (const host of ['upstream.test', 'acme.tenants.test'])
      assert.equal((await request(`https://${host}:${secure.port}/`)).status, 200);
    const error = await refusal(`https://elsewhere.test:${secure.port}/`);
    assert.deepEqual(
      [error.code, error.message],
      [
        'unreachable',
        `elsewhere.test:${secure.port} could not be reached: its certificate, or its TLS, cannot be trusted.`,
      ],
    );
  });

  test('needs an authority that this machine trusts', async () => {
    const error = await refusal(`https://upstream.test:${secure.port}/`, {}, makeGuard({ ca: undefined }));
    assert.match(error.message, /cannot be trusted/);
    assert.equal(secure.requests.length, 0);
  });

  test('trusts the authorities of NODE_EXTRA_CA_CERTS, which a process reads when it starts', async (t) => {
    const file = join(temporaryDirectory(t), 'authority.pem');
    writeFileSync(file, authority);
    const url = `https://upstream.test:${secure.port}`;
    const module = pathToFileURL(join(import.meta.dirname, '../../../service/src/outbound/guard.ts')).href;
    const code = `
      import { Guard } from ${JSON.stringify(module)};
      const guard = new Guard({ allow: ['${url}'], resolve: async () => ['127.0.0.1'] });
      const { status } = await guard.request(new URL('${url}'), ${JSON.stringify(usual)});
      await guard.close();
      console.log(status);`;
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', code];
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: file };
    assert.equal((await promisify(execFile)(process.execPath, args, { env })).stdout, '200\n');
  });

  test('is needed: a server that speaks HTTP is unreachable by https', async () => {
    const url = `https://upstream.test:${upstream.port}`;
    assert.equal((await refusal(`${url}/`, {}, makeGuard({ allow: [url] }))).code, 'unreachable');
  });
});

test('owners share no connection', async () => {
  const sockets = new Set<unknown>();
  upstream.handle = (_, response, incoming) => {
    sockets.add(incoming.socket);
    response.end();
  };
  for (const tenant of ['acme', 'acme', 'other'])
    await request(`${origin}/`, { owner: { ...owner, tenant } }, guard);
  assert.ok(sockets.size >= 2);
});
