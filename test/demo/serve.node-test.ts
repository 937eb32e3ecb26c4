import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runServe, runServeInShell, startDemo } from './harness.ts';
import type { RunningDemo } from './harness.ts';

interface HttpResponse {
  status: number;
  body: string;
}

/** Sends the path as it is written: no client tidies it. */
function get(address: string, path: string, host?: string): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(address);
    const headers = host === undefined ? {} : { host };
    request({ hostname: hostname.replace(/[[\]]/g, ''), port, path, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('latin1');
      response.on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    })
      .on('error', reject)
      .end();
  });
}

const portOf = (address: string) => new URL(address).port;

describe('a running demo', () => {
  let demo: RunningDemo;
  before(async () => (demo = await startDemo({ EDITOR_TOKEN_TTL: '77' })));
  after(() => demo.stop());

  test('prints where it is, that it is for development, and how to start afresh', () => {
    assert.match(demo.output(), /for development: both listen on this machine's loopback addresses alone/i);
    assert.match(demo.output(), /start afresh/);
    assert.ok(demo.output().includes(demo.dataDir));
  });

  test('answers at both addresses, by name and by number', async () => {
    for (const host of ['localhost', '127.0.0.1']) {
      const page = await get(`http://${host}:${portOf(demo.vendor)}`, '/');
      assert.equal(page.status, 200);
      assert.match(page.body, /<title>Larder<\/title>/);
      const features = await get(`http://${host}:${portOf(demo.service)}`, '/api/v1/features');
      assert.equal(features.status, 200);
      const editor = await get(`http://${host}:${portOf(demo.service)}`, '/editor/');
      assert.equal(editor.status, 200);
      assert.match(editor.body, /<script type="module"[^>]* src="\/editor\/assets\//);
    }
  });

  test('answers at a name that resolves to ::1, where the machine has one', async () => {
    const hasV6 = Object.values(networkInterfaces()).some((list) =>
      list?.some((one) => one.address === '::1'),
    );
    for (const address of [demo.vendor, demo.service]) {
      const response = get(`http://[::1]:${portOf(address)}`, '/', `localhost:${portOf(address)}`);
      if (hasV6) assert.notEqual((await response).status, 421);
      else await assert.rejects(response);
    }
  });

  test('listens on no other address of this machine', async () => {
    const outer = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter((one) => !one.internal && one.family === 'IPv4');
    for (const { address } of outer) {
      for (const port of [portOf(demo.vendor), portOf(demo.service)]) {
        await assert.rejects(get(`http://${address}:${port}`, '/'), { code: 'ECONNREFUSED' });
      }
    }
  });

  test('answers 421 at both addresses to another Host', async () => {
    for (const address of [demo.vendor, demo.service]) {
      for (const host of ['evil.example', `evil.example:${portOf(address)}`, 'localhost']) {
        assert.equal((await get(address, '/', host)).status, 421, host);
      }
    }
  });

  test('answers 400 to an invalid Host', async () => {
    for (const address of [demo.vendor, demo.service]) {
      const response = await get(address, '/', 'a b');
      assert.equal(response.status, 400);
      assert.match(response.body, /invalid-request/);
    }
  });

  test('serves neither data nor sources', async () => {
    await mkdir(join(demo.dataDir, 'outbox'));
    await writeFile(join(demo.dataDir, 'outbox', 'mail.eml'), 'Your verification code is 000000');
    const files = await readdir(demo.dataDir);
    assert.ok(files.includes('service.sqlite'));
    const up = [
      '',
      '/..',
      '/../..',
      '/%2e%2e',
      '/%2E%2E/%2e%2e',
      '/..%2f..',
      '/..%5c..',
      '/assets/..',
      '/editor/..',
    ];
    const targets = [
      '/.data/service.sqlite',
      '/.data',
      '/.data/',
      `${demo.dataDir}/service.sqlite`,
      `${demo.dataDir}/outbox/mail.eml`,
      '/service.sqlite',
      '/service.sqlite-wal',
      '/.data/outbox/mail.eml',
      '/outbox/mail.eml',
      '/outbox/',
      '/package.json',
      '/demo/serve.ts',
      '/.git/config',
      '/@fs/etc/passwd',
    ];
    const paths = [
      ...up.flatMap((prefix) => targets.map((target) => prefix + target)),
      ...targets.map((target) => target.replaceAll('/', '%2f').replace('%2f', '/')),
      ...targets.map((target) => target.replaceAll('.', '%2e')),
      ...targets.map((target) => `/editor${target}`),
      '/%00.data/service.sqlite',
      '/.data/service.sqlite%00.html',
      '//.data/service.sqlite',
    ];
    for (const address of [demo.vendor, demo.service]) {
      for (const path of paths) {
        const { status, body } = await get(address, path);
        assert.ok([400, 404].includes(status), `${path} is answered ${status}`);
        assert.match(body, /^\{"error"/, path);
      }
    }
  });

  test('follows the settings of the service in the environment', async () => {
    const origin = demo.vendor.slice(0, -1);
    const headers = { origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
    const session = await fetch(`${origin}/session`, { method: 'POST', headers, body: '{"user":"ada"}' });
    const response = await fetch(`${origin}/plugins/editor-token`, {
      method: 'POST',
      headers: { ...headers, cookie: session.headers.get('set-cookie')?.split(';', 1)[0] ?? '' },
      body: JSON.stringify({ ident: 'com.example.customer-7', namespace: 'default', fn: 'add-record' }),
    });
    assert.equal(((await response.json()) as { expires_in: number }).expires_in, 77);
  });

  test('signs out without a body', async () => {
    const origin = demo.vendor.slice(0, -1);
    const headers = { origin, 'sec-fetch-site': 'same-origin' };
    assert.equal((await fetch(`${origin}/session`, { method: 'DELETE', headers })).status, 204);
  });

  test('reads and counts a body in pieces without a stated length', async () => {
    const origin = demo.vendor.slice(0, -1);
    const headers = { origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
    const send = (text: string) =>
      fetch(`${origin}/session`, {
        method: 'POST',
        headers,
        body: new Blob([text]).stream(),
        duplex: 'half',
      } as RequestInit);
    assert.equal((await send('{"user":"ada"}')).status, 200);
    assert.equal((await send(JSON.stringify({ user: 'a'.repeat(5000) }))).status, 413);
  });

  test('keeps its token when a second start at the same ports fails', async () => {
    const second = runServe({ PORT: portOf(demo.vendor), DATA_DIR: demo.dataDir });
    assert.equal(await second.ended, 1);
    assert.match(second.output(), /^Port \d+ is in use/);
    const origin = demo.vendor.slice(0, -1);
    const headers = { origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
    const session = await fetch(`${origin}/session`, { method: 'POST', headers, body: '{"user":"cleo"}' });
    const response = await fetch(`${origin}/plugins/editor-token`, {
      method: 'POST',
      headers: { ...headers, cookie: session.headers.get('set-cookie')?.split(';', 1)[0] ?? '' },
      body: JSON.stringify({ ident: 'com.example.customer-8', namespace: 'default', fn: 'add-record' }),
    });
    assert.equal(response.status, 200);
  });
});

describe('the framing and the opening of the editor', () => {
  test('follow the environment; the demo’s own page may always frame it', async () => {
    const demo = await startDemo({
      EDITOR_ANCESTORS: 'https://app.example.com',
      EDITOR_ADDRESS_TOKENS: 'off',
    });
    try {
      const page = await fetch(`${demo.service}editor/`);
      const policy = page.headers.get('content-security-policy') ?? '';
      const port = portOf(demo.vendor);
      const own = `http://localhost:${port} http://127.0.0.1:${port}`;
      assert.ok(policy.endsWith(`; frame-ancestors 'self' https://app.example.com ${own}`), policy);
      assert.match(await page.text(), /<meta name="plugin-editor-address-tokens" content="off"/);
    } finally {
      await demo.stop();
    }
  });
});

describe('a demo that is told to end', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`by ${signal} ends with exit code 0 and closes the data file, although a connection is open`, async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'plugin-editor-demo-'));
      try {
        const demo = await startDemo({ DATA_DIR: dataDir });
        const idle = connect(Number(portOf(demo.vendor)), '127.0.0.1');
        // The server lets go of it in the end, one way or the other.
        idle.on('error', () => {});
        await new Promise((resolve) => idle.once('connect', resolve));
        demo.kill(signal);
        assert.equal(await demo.ended, 0);
        idle.destroy();
        assert.doesNotMatch(demo.output(), /error|\bat /i);
        // SQLite takes its log away when the last connection closes.
        assert.equal(existsSync(join(dataDir, 'service.sqlite-wal')), false);
        assert.ok((await stat(join(dataDir, 'service.sqlite'))).size > 0);
        await assert.rejects(get(demo.vendor, '/'), { code: 'ECONNREFUSED' });
      } finally {
        await rm(dataDir, { recursive: true, force: true });
      }
    });
  }
});

describe('a demo that npm runs', () => {
  test('ends with the shell of npm, which passes no signal on', async () => {
    const demo = await startDemo({}, runServeInShell);
    try {
      demo.kill('SIGTERM');
      await demo.ended;
      await assert.rejects(get(demo.vendor, '/'), { code: 'ECONNREFUSED' });
    } finally {
      await demo.stop();
    }
  });
});

describe('a demo that cannot start', () => {
  async function fails(env: Record<string, string>): Promise<string> {
    const dataDir = await mkdtemp(join(tmpdir(), 'plugin-editor-demo-'));
    try {
      const run = runServe({ DATA_DIR: dataDir, ...env });
      assert.equal(await run.ended, 1);
      const output = run.output().trim();
      assert.equal(output.includes('\n'), false, `one line, no stack trace: ${output}`);
      return output;
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  }

  async function occupy(host: string): Promise<Server> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen({ port: 0, host }, resolve));
    return server;
  }

  for (const [name, example] of [
    ['PORT', /such as: PORT=\d+ npm start$/],
    ['SERVICE_PORT', /such as SERVICE_PORT=\d+\.$/],
  ] as const) {
    test(`because ${name} is in use says so, and how to choose another`, async () => {
      const server = await occupy('127.0.0.1');
      const { port } = server.address() as AddressInfo;
      const output = await fails({ [name]: String(port) });
      server.close();
      assert.match(output, new RegExp(`^Port ${port} is in use`));
      assert.ok(output.includes(`Choose another with ${name}, such as`), output);
      assert.match(output, example);
    });
  }

  for (const [env, message] of [
    [{ PORT: 'http' }, /^PORT is "http"; it must be a port: a whole number from 0 to 65535\.$/],
    [{ SERVICE_PORT: '99999' }, /^SERVICE_PORT is "99999"; it must be a port/],
    [{ EDITOR_TOKEN_TTL: '0' }, /^EDITOR_TOKEN_TTL is "0"; it must be a time in seconds/],
    [{ EDITOR_ANCESTORS: 'app.example.com' }, /^EDITOR_ANCESTORS: "app\.example\.com" is not an origin/],
    [{ EDITOR_ANCESTORS: '*' }, /^EDITOR_ANCESTORS: "\*" has a wildcard/],
    [{ EDITOR_ADDRESS_TOKENS: 'no' }, /^EDITOR_ADDRESS_TOKENS is "no"; it must be on or off\.$/],
  ] as [Record<string, string>, RegExp][]) {
    test(`because of ${JSON.stringify(env)} names the variable and what would be right`, async () => {
      assert.match(await fails(env), message);
    });
  }

  test('because its data folder is a file says so', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plugin-editor-demo-'));
    const file = join(folder, 'file');
    await writeFile(file, '');
    try {
      assert.match(await fails({ DATA_DIR: file }), /cannot be used: .* Choose another folder with DATA_DIR/);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
