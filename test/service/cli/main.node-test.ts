import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { readOptions, UsageError } from '../../../service/src/cli/options.ts';
import { until } from '../../support/until.ts';
import { temporaryDirectory } from '../harness.ts';

const root = join(import.meta.dirname, '../../..');
const main = join(root, 'service/src/cli/main.ts');

/**
 * What a run of the tests sets for all of its processes: what was compiled for one serves the next, and the service comes from
 * where the run takes it.
 */
const { NODE_COMPILE_CACHE, NODE_OPTIONS } = process.env;

/** Runs the command with settings that no variable of this machine changes, in a folder of its own. */
function run(t: TestContext, args: string[], env: Record<string, string> = {}) {
  return runProgram(t, process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], env);
}

function runProgram(t: TestContext, program: string, args: string[], env: Record<string, string>) {
  const cwd = temporaryDirectory(t);
  const child = spawn(program, args, {
    cwd,
    env: {
      PATH: process.env['PATH'],
      ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
      ...(NODE_OPTIONS && { NODE_OPTIONS }),
      SERVICE_PORT: '0',
      DRAIN_SECONDS: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (err += part));
  const closed = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  return {
    cwd,
    pid: child.pid,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** Resolves with what was printed once the service has said where it is. */
    serving: async () => {
      while (!/"The plugin service is at .*\n/.test(out)) {
        const [code] = await Promise.race([once(child.stdout, 'data').then(() => [undefined]), closed]);
        if (code !== undefined) throw new Error(`It ended with ${code}: ${err}`);
      }
      return out;
    },
    done: async () => ({ status: (await closed)[0], out, err }),
  };
}

const youngGeneration = '--max-semi-space-size=';

for (const [signal, args, given] of [
  ['SIGINT', [], ''],
  ['SIGTERM', ['serve'], `${youngGeneration}24`],
] as const) {
  test(`"${['plugin-editor-service', ...args].join(' ')}" serves until ${signal}, and ends with exit code 0`, async (t) => {
    const command = run(t, [...args], { NODE_OPTIONS: `${NODE_OPTIONS ?? ''} ${given}` });
    const out = await command.serving();
    if (process.platform === 'linux') {
      const options = readFileSync(`/proc/${command.pid}/cmdline`, 'utf8').split('\0');
      const limits = options.filter((option) => option.startsWith(youngGeneration));
      assert.deepEqual(limits, given ? [] : [`${youngGeneration}16`]);
    }
    const [, address = ''] = /"The plugin service is at (http:\/\/localhost:\d+\/)"/.exec(out) ?? [];
    assert.ok(out.includes(`"state":"${join(command.cwd, '.data/service.sqlite')}"`));
    assert.equal((await fetch(`${address}api/v1/features`)).status, 200);
    command.kill(signal);
    const { status, err } = await command.done();
    assert.deepEqual([status, err], [0, '']);
    await assert.rejects(fetch(address));
  });
}

test('a service that is told to end is alive but not ready, and a second signal ends it at once', async (t) => {
  const command = run(t, [], { DRAIN_SECONDS: '600' });
  const [, address = ''] = /at (http:\/\/localhost:\d+\/)"/.exec(await command.serving()) ?? [];
  const statusOf = async (path: string) => (await fetch(address + path)).status;
  await until('it is ready', async () => (await statusOf('readyz')) === 200);
  command.kill('SIGTERM');
  await until('it is not ready', async () => (await statusOf('readyz')) === 503);
  assert.equal(await statusOf('healthz'), 200);
  command.kill('SIGTERM');
  assert.equal((await command.done()).status, 128 + 15);
});

test('a service that npm or npx started in a shell ends when the shell ends', async (t) => {
  const script = `"${process.execPath}" --disable-warning=ExperimentalWarning "${main}"; exit $?`;
  const command = runProgram(t, 'sh', ['-c', script], { npm_lifecycle_event: 'npx' });
  await command.serving();
  // npm passes the signal on to the shell, which does not pass it on to us.
  command.kill('SIGTERM');
  // The service holds the other end of its output, so that this ends with the service.
  const { err } = await command.done();
  assert.equal(err, '');
});

test('an invalid setting ends the start with one line and exit code 1', async (t) => {
  const { status, out, err } = await run(t, ['serve'], { SERVICE_PORT: 'http' }).done();
  assert.deepEqual(
    [status, out, err],
    [1, '', 'SERVICE_PORT is "http"; it must be a port: a whole number from 0 to 65535.\n'],
  );
});

test('a port that is in use ends the start with one line and exit code 1', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { status, out, err } = await run(t, [], { SERVICE_PORT: String(port) }).done();
  assert.deepEqual([status, out], [1, '']);
  assert.match(err, new RegExp(`^.*${port}.*SERVICE_PORT.*\n$`));
});

test('--help and --version print to standard output', async (t) => {
  const { version } = JSON.parse(readFileSync(join(root, 'service/package.json'), 'utf8')) as {
    version: string;
  };
  for (const option of ['--version', '-v']) {
    assert.deepEqual(await run(t, [option]).done(), { status: 0, out: `${version}\n`, err: '' });
  }
  for (const option of ['--help', '-h']) {
    const { status, out, err } = await run(t, [option]).done();
    assert.deepEqual([status, err], [0, '']);
    assert.match(out, /^Usage: plugin-editor-service \[command\]\n[^]*serve[^]*env-token/);
  }
  const { status, out } = await run(t, ['serve', '--help']).done();
  assert.equal(status, 0);
  assert.match(out, /^Usage: plugin-editor-service serve\n/);
});

test('an unknown command or option is named together with the known ones, with exit code 2', async (t) => {
  const cases: [args: string[], message: RegExp][] = [
    [
      ['start'],
      /^There is no command "start"\. There are: serve, migrate, env-token, check, backup, bundle\.\n/,
    ],
    [['toString'], /^There is no command "toString"\./],
    [['--port', '1'], /^Unknown option '--port'/],
    [['serve', 'here'], /^Unexpected argument 'here'/],
  ];
  for (const [args, message] of cases) {
    const { status, out, err } = await run(t, args).done();
    assert.deepEqual([status, out], [2, ''], args.join(' '));
    assert.match(err, message);
    assert.match(err, /\nUsage: plugin-editor-service/);
  }
});

test('an option or an argument that a command does not take is an error with its usage', () => {
  const options = { holder: { type: 'string' } } as const;
  const read = (args: string[], most?: number) => readOptions(args, 'Usage: …', options, most);
  for (const [args, most, message] of [
    [['--port', '1'], 0, /^Unknown option '--port'[^]*\n\nUsage: …$/],
    [['here'], 0, /^Unexpected argument 'here'[^]*\n\nUsage: …$/],
    [['one', 'two'], 1, /^Unexpected argument 'two'\n\nUsage: …$/],
    [['--holder'], 0, /^Option '--holder <value>' argument missing\n\nUsage: …$/],
  ] as const)
    assert.throws(
      () => read([...args], most),
      (error) => error instanceof UsageError && message.test(error.message),
      args.join(' '),
    );
  const { values, positionals, help } = read(['one', '--holder', 'a', '-h'], 1);
  assert.deepEqual([values.holder, positionals, help], ['a', ['one'], true]);
});

test('a Node that is too old ends every command with one line that names the version needed', async (t) => {
  const pretend = `Object.defineProperty(process,'version',{value:'v20.19.4'})`;
  const { status, out, err } = await run(t, ['serve'], {
    NODE_OPTIONS: `${NODE_OPTIONS ?? ''} --import=data:text/javascript,${encodeURIComponent(pretend)}`,
  }).done();
  assert.equal(status, 1);
  assert.equal(out, '');
  assert.equal(err, 'plugin-editor-service needs Node 22.19 or later, and this is Node 20.19.4.\n');
});
