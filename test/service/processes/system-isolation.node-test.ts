import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { startIsolated } from '../../../service/src/processes/isolated-process.ts';
import { isolationReport, warnOfMissingIsolation } from '../../../service/src/processes/isolation-report.ts';
import type { IsolationLayer } from '../../../service/src/processes/isolation-report.ts';
import { serviceCode } from '../../../service/src/processes/package-folders.ts';
import { findTools, isRoot, noSystemTools } from '../../../service/src/processes/system-tools.ts';
import type { SystemTools } from '../../../service/src/processes/system-tools.ts';
import { temporaryDirectory } from '../harness.ts';

const fixtures = join(import.meta.dirname, 'isolation-fixtures');
const linux = process.platform === 'linux';
const hasBubblewrap = spawnSync('bwrap', ['--version']).status === 0;

/** What `isolation-fixtures/confinement.ts` prints. */
interface Observation {
  readonly report: readonly IsolationLayer[];
  readonly runner: {
    readonly user: number;
    readonly capabilities: string;
    readonly cannotGain: boolean;
    readonly data: string;
    readonly fileSize: string;
    readonly core: string;
    readonly files: string;
  };
  readonly intruder: {
    readonly connects: boolean;
    readonly readsAccounts: boolean;
    readonly readsTests: boolean;
    readonly readsVariables: boolean;
    readonly signals: boolean;
    readonly seesProcesses: boolean;
    readonly reachesSocket: boolean;
    readonly leavesFile: boolean;
    readonly endsNeighbour: boolean;
  };
  readonly isNeighbourAlive: boolean;
  readonly separation: SystemTools['separation'];
  readonly hasOwnUsers: boolean;
  readonly startsAll: boolean;
}

/** A way to start the service: as a user, with rights, and on a system that permits more or less. */
interface Start {
  readonly name: string;
  /** What the service is started with, in front of its own command. */
  readonly command: readonly string[];
  /** Within a user namespace with the ids of the machine, in which no further ones are permitted, as in many containers. */
  readonly inContainer?: boolean;
  /** What has to be found, besides that the report is true. */
  readonly expected?: Pick<Observation, 'separation' | 'hasOwnUsers'>;
}

const asUser = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];
const withoutRights = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--'];

/** The capabilities that Docker leaves to root. */
const dockerRights = [
  'setpriv',
  '--bounding-set=-all,+chown,+dac_override,+fsetid,+fowner,+mknod,+net_raw,+setgid,+setuid,+setfcap,+setpcap,+net_bind_service,+sys_chroot,+kill,+audit_write',
  '--inh-caps=-all',
  '--',
];

/** Hides bubblewrap, as on a machine without the package. */
const withoutBubblewrap = hasBubblewrap
  ? [
      'unshare',
      '--mount',
      '--',
      '/bin/sh',
      '-c',
      'mount --bind /dev/null "$(command -v bwrap)"; exec "$@"',
      'sh',
    ]
  : [];

const strongest = hasBubblewrap ? 'bubblewrap' : 'own';

/** Those that can be tried on this machine. */
const starts: readonly Start[] = (
  linux && isRoot()
    ? ([
        { name: 'by root', command: [], expected: { separation: strongest, hasOwnUsers: true } },
        {
          name: 'by an ordinary user',
          command: asUser,
          expected: { separation: strongest, hasOwnUsers: false },
        },
        {
          name: 'by root without bubblewrap',
          command: withoutBubblewrap,
          expected: { separation: 'own', hasOwnUsers: true },
        },
        {
          name: 'by an ordinary user without bubblewrap',
          command: [...withoutBubblewrap, ...asUser],
          expected: { separation: 'own', hasOwnUsers: false },
        },
        {
          name: 'by root without capabilities',
          command: withoutRights,
          // The kernel lets only a process with capabilities map root into a namespace for users.
          expected: { separation: 'none', hasOwnUsers: false },
        },
        {
          name: 'by root in a container',
          command: [],
          inContainer: true,
          expected: { separation: 'own', hasOwnUsers: true },
        },
        {
          name: "by root in a container with Docker's rights",
          command: dockerRights,
          inContainer: true,
          expected: { separation: 'none', hasOwnUsers: true },
        },
        {
          name: 'by a user in a container',
          command: asUser,
          inContainer: true,
          expected: { separation: 'none', hasOwnUsers: false },
        },
      ] satisfies Start[])
    : [{ name: 'by the user who runs the tests', command: [] }]
).filter((start) => canStart(start));

async function observe(t: TestContext, { command, inContainer = false }: Start): Promise<Observation> {
  const line = [
    ...command,
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    join(fixtures, 'confinement.ts'),
  ];
  const container = [
    'unshare',
    '--user',
    '--',
    '/bin/sh',
    '-c',
    // The inner shell has the rights of root, which come with a program that is started once the ids are there.
    `echo started; read -r line; exec /bin/sh -c 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"' sh "$@"`,
    'sh',
  ];
  const [file = '', ...args] = inContainer ? [...container, ...line] : line;
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  if (inContainer) {
    await once(child.stdout, 'data');
    for (const map of ['uid_map', 'gid_map']) writeFileSync(`/proc/${child.pid}/${map}`, '0 0 65536');
  }
  child.stdin.end('\n');
  return JSON.parse(await text(child.stdout)) as Observation;
}

/** Whether this machine permits a start: its user can read the tests, and namespaces are permitted where it needs them. */
function canStart({ command, inContainer }: Start): boolean {
  const script = `test -r '${process.execPath}' && test -r '${fixtures}'`;
  const [file, ...args] = [...command, '/bin/sh', '-c', script];
  if (spawnSync(file, args).status !== 0) return false;
  return !inContainer || spawnSync('unshare', ['--user', '--', '/bin/sh', '-c', ':']).status === 0;
}

describe('the report lists the layers that hold for a service that is started', { concurrency: 3 }, () => {
  for (const start of linux ? starts : []) {
    test(start.name, async (t) => {
      const { report, runner, intruder, startsAll, ...observed } = await observe(t, start);
      const layers = new Map(report.map((layer) => [layer.name, layer]));
      const holds = (name: IsolationLayer['name']) => layers.get(name)?.holds;
      t.diagnostic(report.flatMap((layer) => (layer.holds ? [] : [layer.name])).join(', ') || 'all hold');

      const { separation, hasOwnUsers, isNeighbourAlive } = observed;
      if (start.expected) assert.deepEqual({ separation, hasOwnUsers }, start.expected);
      assert.equal(holds('user'), runner.user !== 0);
      assert.equal(holds('privileges'), runner.cannotGain && /^0+$/.test(runner.capabilities));
      assert.equal(holds('network'), !intruder.connects);
      assert.equal(holds('memory'), runner.data !== 'unlimited');
      assert.equal(holds('processes'), !startsAll);
      assert.equal(
        holds('writes'),
        runner.fileSize === '0' && runner.core === '0' && Number(runner.files) <= 256,
      );
      assert.equal(holds('files'), !intruder.readsAccounts && !intruder.readsTests);
      const { seesProcesses, reachesSocket, leavesFile } = intruder;
      assert.deepEqual(
        { seesProcesses, reachesSocket, leavesFile },
        holds('neighbours')
          ? { seesProcesses: false, reachesSocket: false, leavesFile: false }
          : { seesProcesses: separation === 'none', reachesSocket: true, leavesFile: true },
      );
      if (holds('neighbours') || hasOwnUsers) {
        const { readsVariables, signals, endsNeighbour } = intruder;
        assert.deepEqual(
          { readsVariables, signals, endsNeighbour },
          { readsVariables: false, signals: false, endsNeighbour: false },
        );
        assert.ok(isNeighbourAlive);
      }
    });
  }
});

test('each layer that does not hold is one line of warning', () => {
  const lines: string[] = [];
  warnOfMissingIsolation(
    (line) => lines.push(line),
    [
      { name: 'user', holds: true, detail: 'each runs as another user' },
      { name: 'network', holds: false, detail: 'native code in them can reach the network' },
    ],
  );
  assert.deepEqual(lines, [
    'Isolation of runners and compilers, network: native code in them can reach the network.',
  ]);
});

test('on a system without any of the tools, the only layer that holds is a user who is not root', () => {
  const holding = isolationReport(noSystemTools).flatMap(({ name, holds }) => (holds ? [name] : []));
  assert.deepEqual(holding, isRoot() ? [] : ['user']);
});

test('a service in a folder that programs share leaves that folder open, and the report says which', () => {
  const tools: SystemTools = { ...noSystemTools, separation: 'own', privateFolders: ['/run'] };
  const layerOf = (openFolders: readonly string[]) =>
    isolationReport({ ...tools, openFolders }).find(({ name }) => name === 'neighbours');
  assert.equal(layerOf([])?.holds, true);
  const open = layerOf(['/tmp']);
  assert.equal(open?.holds, false);
  assert.match(open.detail, / in \/tmp, where the service's code is; install it elsewhere/);
});

test('a limit that is set and does not work is not reported as holding', { skip: !linux }, (t) => {
  const shell = join(temporaryDirectory(t), 'shell');
  // As a kernel would be that takes limits and does not keep to them.
  writeFileSync(shell, '#!/bin/sh\nscript="ulimit() { :; }\n$2"\nshift 2\nexec /bin/sh -c "$script" "$@"\n', {
    mode: 0o755,
  });
  const layers = new Map(
    isolationReport(findTools(undefined, shell)).map(({ name, holds }) => [name, holds]),
  );
  assert.deepEqual([layers.get('memory'), layers.get('writes')], [false, false]);
  assert.equal(layers.get('lifetime'), true);
});

test('every layer is described in one line without a full stop', () => {
  for (const { detail } of [...isolationReport(), ...isolationReport(noSystemTools)]) {
    assert.match(detail, /^[a-z][^\n]*[^.\n]$/);
  }
});

test(
  'code that other users cannot read makes its processes run as root without capabilities, and the report names the folder',
  { skip: !linux || !isRoot() },
  async (t) => {
    const folder = join(temporaryDirectory(t), 'app');
    mkdirSync(folder);
    chmodSync(folder, 0o700);
    const tools = findTools([folder]);
    assert.equal(tools.users, undefined);
    const [user] = isolationReport(tools);
    assert.equal(user?.holds, false);
    assert.match(user.detail, new RegExp(`as root.*cannot read ${folder}`));

    const { child, pid, kill } = startIsolated({
      file: new URL('./isolation-fixtures/probe.ts', import.meta.url),
      args: ['loop'],
      readable: [...serviceCode(), fixtures],
      memoryLimit: 128 * 2 ** 20,
      stdio: ['ignore', 'pipe', 'ignore'],
      tools,
    });
    t.after(kill);
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    const status = readFileSync(`/proc/${pid()}/status`, 'utf8');
    assert.match(status, /^Uid:\s+0\s/m);
    if (tools.isUnprivileged) assert.match(status, /^CapEff:\s+0+$/m);
  },
);
