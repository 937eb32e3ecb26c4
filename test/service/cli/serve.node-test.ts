import assert from 'node:assert/strict';
import { createServer, get } from 'node:http';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { StartError, startService } from '../../../service/src/index.ts';
import type { Settings } from '../../../service/src/index.ts';
import { Builds } from '../../../service/src/toolchains/build/builds.ts';
import { bearer, temporaryDirectory } from '../harness.ts';
import { engineUnderTest, databaseWithSchema } from '../storage/databases.ts';
import { runCommand } from './service-command.ts';

const statusOf = (url: string, host?: string) =>
  new Promise<number>((resolve, reject) => {
    get(url, host === undefined ? {} : { headers: { host } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });

/** Starts a service in this process, as a program does that has it as a package. */
async function startHere(
  t: TestContext,
  settings: Partial<Settings>,
  writeLog: (line: string) => void = () => {},
) {
  const database = await databaseWithSchema(t, engineUnderTest());
  const dataDirectory = temporaryDirectory(t);
  // As in `cold-compilers.ts`, which would do so for the other files of this process, too.
  const { mock } = t.mock.method(Builds.prototype, 'warmUp', async () => {});
  try {
    const options = { servicePort: 0, database, dataDirectory, ...settings };
    const service = await startService(options, { writeLog });
    t.after(() => service.close());
    return service;
  } finally {
    mock.restore();
  }
}

/** Builds a plugin at a running service and tests it once. */
async function buildAndTest(base: string, environmentToken: string, language: string, contents: string) {
  const plugin = `com.acme.t1/default/${language}`;
  const access = await fetch(`${base}/auth/v2/access/${plugin}`, { headers: bearer(environmentToken) });
  const headers = bearer(((await access.json()) as { token: string }).token);
  const post = (path: string, body: string) => fetch(base + path, { method: 'POST', headers, body });
  await (await post(`/api/v1/build/${language}/${plugin}`, contents)).text();
  const tested = await post(`/api/v1/test/${plugin}`, 'x');
  return (await tested.json()) as { result?: string; error?: { code: string; message: string } };
}

test('with a public URL the service answers to its host and to those that are allowed, wherever it listens', async (t) => {
  const { port } = await startHere(t, {
    serviceHost: '0.0.0.0',
    publicUrl: 'https://plugins.example.com',
    allowedHosts: ['plugins.internal:8082'],
  });
  const addresses = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ family }) => family === 'IPv4');
  for (const { address: own } of addresses) {
    const url = `http://${own}:${port}/api/v1/features`;
    for (const [host, expected] of [
      ['plugins.example.com', 200],
      ['PLUGINS.example.com:443', 200],
      ['plugins.internal:8082', 200],
      ['plugins.internal', 421],
      ['sub.plugins.example.com', 421],
      [`localhost:${port}`, 421],
      [undefined, 421],
    ] as const) {
      assert.equal(await statusOf(url, host), expected, `${own} ${host}`);
    }
    assert.equal(await statusOf(`http://${own}:${port}/healthz`), 200);
  }
});

test('metrics are served at their port, and not at the port of the service', async (t) => {
  const { port, metricsPort } = await startHere(t, { metricsPort: 0 });
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  assert.match(await response.text(), /^plugin_service_waiting\{queue="runs"\} 0$/m);
  assert.equal(await statusOf(`http://127.0.0.1:${port}/metrics`), 404);
});

test('a program can start the service with some settings, and gets defaults for the rest', async (t) => {
  const lines: string[] = [];
  const service = await startHere(t, { runTimeoutMs: 2000, runMemoryMb: 8 }, (line) => lines.push(line));
  const base = `http://localhost:${service.port}`;
  const token = await service.createEnvironmentToken('com.acme');
  const runs = async (contents: string) => (await buildAndTest(base, token, 'javascript', contents)).error;
  assert.equal(await runs('export const run = (input) => input;'), undefined);
  assert.deepEqual(await runs('export const run = () => { for (;;); };'), {
    code: 'time-limit',
    message: 'The plugin ran for more than 2 s, which is the limit of time.',
  });
  assert.deepEqual(await runs('export const run = () => String(new Uint8Array(16 * 2 ** 20).length);'), {
    code: 'memory-limit',
    message: 'The plugin needed more than 8 MiB, which is the limit of memory.',
  });
  assert.ok(lines.some((line) => line.includes('"msg":"request"')));
  await assert.rejects(startService({ serviceHost: '0.0.0.0' }), /^StartError: PUBLIC_URL is not set, /);
});

test('a host that is not an address of this machine is an error that names its variable', async (t) => {
  // Addresses and a name that are only for documentation.
  for (const [settings, message] of [
    [{ serviceHost: '192.0.2.7' }, /^SERVICE_HOST is 192\.0\.2\.7, .*; it must be /],
    [{ serviceHost: 'plugins.invalid' }, /^SERVICE_HOST is plugins\.invalid, .*; it must be /],
    [{ serviceHost: 'fe80::1' }, /^SERVICE_HOST is fe80::1, .*; it must be /],
    [{ metricsHost: '192.0.2.7', metricsPort: 0 }, /^METRICS_HOST is 192\.0\.2\.7, .*; it must be /],
  ] as const) {
    const publicUrl = 'https://plugins.example.com';
    const starting = startHere(t, { publicUrl, ...settings });
    await assert.rejects(starting, (error) => error instanceof StartError && message.test(error.message));
  }
});

test('a port that is in use is an error that names its variable, and suggests a valid port instead of a high one', async (t) => {
  const server = createServer();
  t.after(() => server.close());
  let port = 65_535;
  const isHad = () =>
    new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
  while (!(await isHad())) port -= 1;
  await assert.rejects(startHere(t, { servicePort: port }), (error) => {
    assert.ok(error instanceof StartError);
    const [, taken, named] = /^Port (\d+) is in use,.*SERVICE_PORT=(\d+)/.exec(error.message) ?? [];
    return Number(taken) === port && Number(named) === port - 1000;
  });
});

test('SIGTERM while the start waits for the database ends it at once, with exit code 0', async (t) => {
  const env = { DATABASE_URL: 'postgres://me@127.0.0.1:1/none', DATA_DIR: temporaryDirectory(t) };
  const command = runCommand(t, undefined, ['serve'], env);
  const { reason } = await command.line(({ msg }) => msg.startsWith('The database cannot be reached yet.'));
  assert.match(String(reason), /ECONNREFUSED/);
  const began = performance.now();
  command.kill('SIGTERM');
  const { status, err } = await command.done();
  assert.deepEqual([status, err], [0, '']);
  assert.equal(command.logged().at(-1)?.msg, 'The service ends before it has started.');
  // It would be waited for for 30 s.
  assert.ok(performance.now() - began < 20_000);
});
