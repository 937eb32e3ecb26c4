import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { get, portOf, runServe, runServeInShell, startDemo } from './harness.ts';

// How the process of `npm start` begins and ends.

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
  test('has framing and opening follow the environment, and ends with the shell of npm, which passes no signal on', async () => {
    const env = { EDITOR_ANCESTORS: 'https://app.example.com', EDITOR_ADDRESS_TOKENS: 'off' };
    const demo = await startDemo(env, runServeInShell);
    try {
      const page = await fetch(`${demo.service}editor/`);
      const policy = page.headers.get('content-security-policy') ?? '';
      const port = portOf(demo.vendor);
      // The demo's own page may always frame it.
      const own = `http://localhost:${port} http://127.0.0.1:${port}`;
      assert.ok(policy.endsWith(`; frame-ancestors 'self' https://app.example.com ${own}`), policy);
      assert.match(await page.text(), /<meta name="plugin-editor-address-tokens" content="off"/);

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

  test('because of a setting names the variable and what would be right', async () => {
    assert.equal(
      await fails({ PORT: 'http' }),
      'PORT is "http"; it must be a port: a whole number from 0 to 65535.',
    );
  });

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
