import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { readOptions, UsageError } from '../../../service/src/cli/options.ts';
import { serve } from '../../../service/src/cli/serve.ts';
import { until } from '../../support/until.ts';
import { temporaryDirectory } from '../harness.ts';
import { nodeArguments, runCommand, runHere, runProgram } from './service-command.ts';

const root = join(import.meta.dirname, '../../..');
const { NODE_OPTIONS = '' } = process.env;

/** Runs the command in a folder of its own. */
function run(t: TestContext, args: readonly string[], env: Record<string, string> = {}) {
  const cwd = temporaryDirectory(t);
  return { ...runCommand(t, undefined, args, env, cwd), cwd };
}

const youngGeneration = '--max-semi-space-size=';

/** The limits of the young generation that a process was started with. */
const youngGenerationOf = (pid: number) =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    .split('\0')
    .filter((option) => option.startsWith(youngGeneration));

test('"plugin-editor-service" serves until SIGINT, logs JSON lines alone, and ends with exit code 0', async (t) => {
  const command = run(t, []);
  const { base } = await command.serving();
  if (process.platform === 'linux')
    assert.deepEqual(youngGenerationOf(command.pid), [`${youngGeneration}16`]);
  assert.equal((await fetch(`${base}/api/v1/features`)).status, 200);
  const { route } = await command.line(({ msg }) => msg === 'request');
  assert.equal(route, '/api/v1/features');
  command.kill('SIGINT');
  const { status, err } = await command.done();
  assert.deepEqual([status, err], [0, '']);
  // Every line can be parsed.
  const lines = command.logged();
  assert.ok(lines.every(({ level }) => ['info', 'warn'].includes(level)));
  assert.ok(lines.some(({ state }) => state === join(command.cwd, '.data/service.sqlite')));
  await assert.rejects(fetch(base));
});

test('"plugin-editor-service serve" is alive but not ready after SIGTERM, and a second one ends it at once', async (t) => {
  const given = `${youngGeneration}24`;
  const command = run(t, ['serve'], { DRAIN_SECONDS: '600', NODE_OPTIONS: `${NODE_OPTIONS} ${given}` });
  const { base } = await command.serving();
  if (process.platform === 'linux') assert.deepEqual(youngGenerationOf(command.pid), []);
  const statusOf = async (path: string) => (await fetch(`${base}/${path}`)).status;
  await until('it is ready', async () => (await statusOf('readyz')) === 200);
  command.kill('SIGTERM');
  await until('it is not ready', async () => (await statusOf('readyz')) === 503);
  assert.equal(await statusOf('healthz'), 200);
  command.kill('SIGTERM');
  assert.equal((await command.done()).status, 128 + 15);
});

test('a service that npm or npx started in a shell ends when the shell ends', async (t) => {
  const words = [process.execPath, ...nodeArguments([])].map((word) => `"${word}"`);
  const env = { npm_lifecycle_event: 'npx' };
  const script = ['-c', `${words.join(' ')}; exit $?`];
  const command = runProgram(t, 'sh', script, undefined, env, temporaryDirectory(t));
  await command.serving();
  // npm passes the signal on to the shell, which does not pass it on to us.
  command.kill('SIGTERM');
  // The service holds the other end of its output, so that this ends with the service.
  const { err } = await command.done();
  assert.equal(err, '');
});

test('an invalid setting ends the start with one line and exit code 1, and is not logged', async (t) => {
  const env = { SERVICE_PORT: 'http', LOG_LEVEL: 'fatal' };
  assert.deepEqual(await run(t, ['serve'], env).done(), {
    status: 1,
    out: '',
    err: 'SERVICE_PORT is "http"; it must be a port: a whole number from 0 to 65535.\n',
  });
});

test('--help and --version print to standard output', async (t) => {
  const { version } = JSON.parse(readFileSync(join(root, 'service/package.json'), 'utf8')) as {
    version: string;
  };
  const versions = await run(t, ['--version', '-v']).done();
  assert.deepEqual(versions, { status: 0, out: `${version}\n`, err: '' });
  const { status, out, err } = await run(t, ['--help', '-h']).done();
  assert.deepEqual([status, err], [0, '']);
  assert.match(out, /^Usage: plugin-editor-service \[command\]\n[^]*serve[^]*env-token/);
});

test('an unknown command or option is named together with the known ones, with exit code 2', async (t) => {
  const cases: [args: string[], message: RegExp][] = [
    [
      ['toString'],
      /^There is no command "toString"\. There are: serve, migrate, env-token, check, backup, bundle\.\n/,
    ],
    [['--port', '1'], /^Unknown option '--port'/],
  ];
  for (const [args, message] of cases) {
    const { status, out, err } = await run(t, args).done();
    assert.deepEqual([status, out], [2, ''], args.join(' '));
    assert.match(err, message);
    assert.match(err, /\nUsage: plugin-editor-service/);
  }
});

test('serve prints its help, and takes no argument', async (t) => {
  const { out } = await runHere(t, serve, undefined, ['--help']);
  assert.match(out, /^Usage: plugin-editor-service serve\n/);
  await assert.rejects(
    serve(['here']),
    (error) =>
      error instanceof UsageError &&
      /^Unexpected argument 'here'[^]*\n\nUsage: plugin-editor-service serve\n/.test(error.message),
  );
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
    NODE_OPTIONS: `${NODE_OPTIONS} --import=data:text/javascript,${encodeURIComponent(pretend)}`,
  }).done();
  assert.equal(status, 1);
  assert.equal(out, '');
  assert.equal(err, 'plugin-editor-service needs Node 22.19 or later, and this is Node 20.19.4.\n');
});
