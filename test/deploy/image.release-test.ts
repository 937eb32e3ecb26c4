import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chown,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { root } from '../../tools/run-node.js';
import { onPath } from '../../tools/setup/find-browsers.js';
import { processTree } from '../bench/executions/processes.ts';
import { Connection } from '../support/connection.ts';
import { program } from '../soak/programs.ts';
import { Tally } from '../soak/tally.ts';
import { User } from '../soak/user.ts';
import { freePort } from '../support/free-port.ts';
import { packOnce } from '../support/packing.ts';
import { npm, run } from '../support/programs.ts';
import { until } from '../support/until.ts';

/*
 * The image of `deploy/docker/Dockerfile`, built and started by Buildah. No registry of images is asked: what it is made of comes
 * from Debian's packages and from npm. Buildah's isolation is `chroot`, which needs no kernel feature beyond root's rights.
 */

const whyNot =
  process.platform !== 'linux'
    ? 'Buildah runs on Linux alone'
    : process.getuid?.() !== 0
      ? 'Debian’s packages are unpacked, and containers are started, by root alone'
      : false;

/** What `buildah inspect` says of an image, as far as it is used here. */
interface Config {
  User: string;
  StopSignal: string;
  WorkingDir: string;
  Entrypoint: string[];
  Cmd: string[];
  Volumes: Record<string, object>;
  Healthcheck: { Test: string[] };
}

describe('the container image', { skip: whyNot }, () => {
  let folder: string;
  let config: Config;
  let container: string;

  /** Where Buildah keeps images and containers of these tests alone. */
  const storage = () => ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
  /** Runs Buildah, and returns what it printed. */
  const buildah = async (...args: string[]) => {
    const { stdout } = await run('buildah', [...storage(), ...args]);
    return stdout.trim();
  };
  /** The arguments that run a program in the container. `variables` are added to those of the image. */
  const inContainer = (command: readonly string[], variables: Record<string, string> = {}) => {
    const env = Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const volume = ['--volume', `${join(folder, 'data')}:/data`];
    return [...storage(), 'run', '--isolation', 'chroot', ...volume, ...env, container, '--', ...command];
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'deploy-image-'));
    const [{ file }] = await Promise.all([packOnce('plugin-editor-service'), makeBases()]);
    const context = join(folder, 'context');
    await mkdir(context);
    await copyFile(file, join(context, basename(file)));
    for (const name of ['Dockerfile', '.dockerignore'])
      await copyFile(join(root, 'deploy/docker', name), join(context, name));
    const cache = await npmSetting('cache');
    await mkdir(cache, { recursive: true });
    await buildah(
      'build',
      '--isolation=chroot',
      '--format=docker',
      '--pull-never',
      '--jobs=2',
      '--build-arg=NODE=localhost/node',
      '--build-arg=BASE=localhost/debian',
      // What npm has downloaded before.
      `--volume=${cache}:/root/.npm`,
      '--tag=localhost/plugin-editor-service',
      context,
    );
    const inspected = await buildah('inspect', '--type', 'image', 'localhost/plugin-editor-service');
    ({ config } = (JSON.parse(inspected) as { Docker: { config: Config } }).Docker);
    container = await buildah('from', '--pull-never', 'localhost/plugin-editor-service');
    // As Docker makes a new volume: with the owner that the image gives the folder.
    await mkdir(join(folder, 'data'), { mode: 0o700 });
    await chown(join(folder, 'data'), 10_001, 10_001);
  });

  after(async () => {
    await buildah('rm', '--all');
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  /** Makes the two images that the Dockerfile begins with. */
  async function makeBases(): Promise<void> {
    const debian = await buildah('from', 'scratch');
    const files = await buildah('mount', debian);
    // Without documentation and translations, as in the images of Debian that are called slim.
    const excluded = ['doc', 'locale', 'man'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
    // The image is gone after the tests, so that no file of it has to be on the disk before the next.
    const options = ['--dpkgopt=force-unsafe-io', ...excluded];
    await run('mmdebstrap', ['--quiet', '--variant=minbase', '--mode=root', ...options, 'bookworm', files]);
    await buildah('commit', '--quiet', debian, 'localhost/debian');
    const node = await buildah('from', '--pull-never', 'localhost/debian');
    const local = join(await buildah('mount', node), 'usr/local');
    await copyFile(process.execPath, join(local, 'bin/node'));
    // Not by `npm root --global`, which names a folder beside the Node that runs it.
    const npmProgram = await realpath(onPath('npm') ?? assert.fail('npm is not on the PATH'));
    await cp(join(npmProgram, '../..'), join(local, 'lib/node_modules/npm'), { recursive: true });
    await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
    // npm there has the registry of npm here, and trusts whom it trusts.
    await mkdir(join(local, 'etc'), { recursive: true });
    const registry = await npmSetting('registry');
    await writeFile(join(local, 'etc/npmrc'), `registry=${registry}\nprefer-offline=true\n`);
    const authorities = process.env['NODE_EXTRA_CA_CERTS'] ?? (await npmSetting('cafile'));
    if (authorities !== 'null') {
      await copyFile(authorities, join(local, 'etc/authorities.crt'));
      await buildah('config', '--env', 'NODE_EXTRA_CA_CERTS=/usr/local/etc/authorities.crt', node);
    }
    await buildah('commit', '--quiet', node, 'localhost/node');
  }

  const npmSetting = async (name: string) => (await npm(root, ['config', 'get', name])).stdout.trim();

  const settingsFor = (port: number) => ({ SERVICE_PORT: `${port}`, PUBLIC_URL: `http://localhost:${port}` });

  /** Starts the container as its image says, and resolves once it serves. */
  async function start(port: number) {
    const settings = { ...settingsFor(port), DRAIN_SECONDS: '6', RUN_TIMEOUT_MS: '20000' };
    const child = spawn('buildah', inContainer([...config.Entrypoint, ...config.Cmd], settings), {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const ended = once(child, 'exit') as Promise<[number | null]>;
    const origin = `http://localhost:${port}`;
    const ask = (path: string) => fetch(origin + path);
    const isReady = () =>
      ask('/readyz').then(
        ({ ok }) => ok,
        () => false,
      );
    await until('a container that is ready', async () => {
      assert.equal(child.exitCode, null, output);
      return isReady();
    });
    return {
      origin,
      ask,
      /** Sends a signal to the first process of the container. */
      async signal(name: NodeJS.Signals) {
        for (const pid of processTree(child.pid ?? 0)) {
          // One that is listed may have ended meanwhile.
          const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
          const [command] = line.split('\0');
          if (basename(command ?? '') === config.Entrypoint[0]) process.kill(pid, name);
        }
      },
      /** Its exit code. */
      ended: ended.then(([code]) => code),
      async [Symbol.asyncDispose]() {
        for (const pid of processTree(child.pid ?? 0).toReversed()) {
          try {
            process.kill(pid, 'SIGKILL');
          } catch {
            // It has ended.
          }
        }
        await ended;
      },
    };
  }

  test('has Node and the service in it, no npm, and a user that is not root', async () => {
    assert.equal(config.User, '10001:10001');
    assert.deepEqual(Object.keys(config.Volumes), ['/data']);
    const files = await buildah('mount', container);
    const { stdout: programs } = await run('ls', [join(files, 'usr/local/bin')]);
    assert.deepEqual(programs.trim().split('\n'), ['node', 'plugin-editor-service']);
    const { stdout: size } = await run('du', ['-sm', '--one-file-system', files]);
    // It had 379 once; updates of Debian and of the dependencies change that by some MB. Binaryen's programs alone would be 80.
    assert.ok(parseInt(size) < 400, `${size} MB`);
    const { stdout: user } = await run('buildah', inContainer(['id', '--user']));
    assert.equal(user.trim(), '10001');
  });

  test('passes its own check', async () => {
    const variables = {
      PUBLIC_URL: 'https://plugins.example.com',
      EDITOR_ANCESTORS: 'https://app.example.com',
      TRUSTED_PROXIES: '10.0.0.0/8',
    };
    const { stdout } = await run('buildah', inContainer(['plugin-editor-service', 'check'], variables));
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.replace(/^(?:ok|warning) +(\w+):.*$/, '$1')),
      ['settings', 'database', 'schema', 'secrets', 'sandbox', 'isolation', 'toolchains'],
    );
    assert.match(stdout, /^ok +toolchains:.*\bpython\b.* build$/m);
  });

  test('serves, drains at SIGTERM, and has in its volume what was deployed before', async () => {
    const port = await freePort();
    const tally = new Tally();
    const user = new User('com.acme.t1/default/add-record', tally);
    const command = (...words: string[]) => run('buildah', inContainer(words, settingsFor(port)));
    const checkHealth = () => command(...config.Healthcheck.Test.slice(1));
    let environmentToken: string;
    {
      await using service = await start(port);
      await checkHealth();
      const { stdout } = await command('plugin-editor-service', 'env-token', 'com.acme');
      environmentToken = stdout.trim().split('\n').at(-1) ?? '';
      const connection = new Connection(service.origin);
      await user.signIn(connection, environmentToken);
      await user.build(program('typescript', 'in a container', 100), false);
      await user.deploy();
      await user.run('first');
      connection.close();

      await service.signal(config.StopSignal as NodeJS.Signals);
      await until('the beginning of the drain', async () => {
        const response = await service.ask('/healthz');
        return ((await response.json()) as { draining?: boolean }).draining ?? false;
      });
      assert.equal((await service.ask('/readyz')).status, 503);
      assert.equal(await service.ended, 0);
      await assert.rejects(checkHealth());
    }
    await using again = await start(port);
    const later = new Connection(again.origin);
    await user.signIn(later, environmentToken);
    await user.verify();
    later.close();
    assert.deepEqual(tally.faults, []);
  });
});
