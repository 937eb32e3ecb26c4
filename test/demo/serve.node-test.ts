import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { editorTokenOf, signInAt } from './deploy.ts';
import { get, portOf, runServe } from './harness.ts';
import { shareDemo, TOKEN_TTL } from './shared-demo.ts';
import { targetOf } from './vendor-setup.ts';

const demo = await shareDemo();

describe('a running demo', () => {
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
    const send = await signInAt(demo.vendor, 'ada');
    const response = await send('POST', 'plugins/editor-token', targetOf('customer-7'));
    assert.equal(((await response.json()) as { expires_in: number }).expires_in, TOKEN_TTL);
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

  test('keeps its token when a second start with the same data fails', async () => {
    const second = runServe({ PORT: portOf(demo.vendor), DATA_DIR: demo.dataDir });
    assert.equal(await second.ended, 1);
    const { dataDir } = demo;
    assert.equal(
      second.output().trim(),
      `The data folder ${dataDir} is in use by another \`npm start\`. End that one, or choose another folder with DATA_DIR, such as: DATA_DIR=.data-2 npm start`,
    );
    assert.ok(await editorTokenOf(demo, 'cleo', targetOf('customer-8')));
  });
});
