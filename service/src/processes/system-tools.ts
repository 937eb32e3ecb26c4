import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageDescription, serviceCode } from './package-folders.ts';
import { confinedCommandLine } from './system-isolation.ts';
import { mebibyte } from '../units.ts';

/** The means of isolation that work on this machine. Each of them was tried, not only looked for. */
export interface SystemTools {
  /** A POSIX shell, which sets limits (`ulimit`) before it becomes the program. Without it there are no limits. */
  readonly shell: string | undefined;
  /**
   * The ids of users and groups that processes run as, each with another one. `undefined`: they run as the service's.
   */
  readonly users: UserRange | undefined;
  /** Why a service that runs as root cannot run its processes as another user. */
  readonly userProblem: string | undefined;
  /**
   * How a process gets a separate network, with nothing but a loopback: by a user namespace (`user`), which also separates
   * processes of the same user, or by the privileges of root (`root`). `none`: it shares the network of the machine.
   */
  readonly namespaces: 'user' | 'root' | 'none';
  /**
   * The options of `setpriv` that remove all privileges, and make the kernel kill the process when the service ends. Without them
   * (not on Linux, or no util-linux) a shell beside the program watches for the service's end.
   */
  readonly privileges: readonly string[] | undefined;
  /** Whether a process has no privileges, and can gain none. */
  readonly isUnprivileged: boolean;
  /** Whether `prlimit` can bound the number of processes and threads in a way that holds. */
  readonly limitsProcesses: boolean;
  /** Whether the system refuses a process memory past its limit (`ulimit -d`). */
  readonly limitsMemory: boolean;
  /** Whether the system keeps a process from writing to files (`ulimit -f`). */
  readonly limitsWrites: boolean;
  /**
   * What keeps a process from seeing other processes, and the sockets and temporary files of others. `bubblewrap`: it sees no
   * files but its own and the system's programs. `own`: the namespaces, with empty {@link privateFolders}.
   */
  readonly separation: 'bubblewrap' | 'own' | 'none';
  /** The folders that are empty in a process whose separation is `own`. */
  readonly privateFolders: readonly string[];
  /** The folders that would be private, if the code that a process needs were not in them. */
  readonly openFolders: readonly string[];
}

/** Consecutive ids of users. */
export interface UserRange {
  readonly first: number;
  readonly count: number;
}

/**
 * The ids that processes run with when the service is root, in the order in which they are tried. No account has them, so that no
 * file belongs to them. The first are outside of the ranges of Debian, systemd and `/etc/subuid`. The second, which Debian
 * reserves, are for containers that have only 65,536 ids.
 */
const userRanges: readonly UserRange[] = [
  { first: 70_000, count: 25_600 },
  { first: 65_000, count: 512 },
];

/** Where programs put sockets and temporary files for others. */
const sharedFolders = ['/tmp', '/var/tmp', '/run', '/dev/shm'];

const systemShell = '/bin/sh';

export const noSystemTools: SystemTools = {
  shell: undefined,
  users: undefined,
  userProblem: undefined,
  namespaces: 'none',
  privileges: undefined,
  isUnprivileged: false,
  limitsProcesses: false,
  limitsMemory: false,
  limitsWrites: false,
  separation: 'none',
  privateFolders: [],
  openFolders: [],
};

let found: SystemTools | undefined;

/**
 * The means of isolation that work on this machine; others are left out, such as those that a container does not permit. They are
 * tried at the first call, which takes some 100 ms; later calls return the same result at once.
 */
export function systemTools(): SystemTools {
  found ??= findTools();
  return found;
}

/**
 * Tries the means of isolation, each together with those that were found to work before it.
 * @param code the files that processes have to be able to read, also as another user (default: the service's code and Node)
 * @param shell a POSIX shell
 */
export function findTools(code: readonly string[] = neededCode(), shell = systemShell): SystemTools {
  if (process.platform === 'win32' || !existsSync(shell)) return noSystemTools;
  let tools: SystemTools = { ...noSystemTools, shell };
  tools = { ...tools, limitsMemory: refusesMemory(tools), limitsWrites: refusesWrites(tools) };
  const keepIfWorking = (change: Partial<SystemTools>, script?: string, args?: readonly string[]) => {
    const isWorking = runs({ ...tools, ...change }, script, args).status === 0;
    if (isWorking) tools = { ...tools, ...change };
    return isWorking;
  };

  for (const privileges of privilegeOptions) if (keepIfWorking({ privileges })) break;
  if (process.platform !== 'linux') return tools;
  if (isRoot()) tools = { ...tools, ...findUser(tools, code) };
  if (!keepIfWorking({ namespaces: 'user' }) && isRoot()) keepIfWorking({ namespaces: 'root' });
  // The limit of processes does not apply to root, not even within a user namespace.
  // Without a namespace or an own user, all processes of the service's user on the machine would count.
  if (tools.users !== undefined || (!isRoot() && tools.namespaces === 'user')) {
    keepIfWorking({ limitsProcesses: true });
  }
  if (!keepIfWorking({ separation: 'bubblewrap' }, startsNode, [process.execPath])) {
    const folders = sharedFolders.filter((folder) => existsSync(folder));
    const openFolders = folders.filter((folder) => code.some((path) => path.startsWith(`${folder}/`)));
    const privateFolders = folders.filter((folder) => !openFolders.includes(folder));
    // The program is root within its namespace for users, so that it can, and must, drop the bounding set, too.
    const privileges = tools.namespaces === 'user' ? privilegeOptions[0] : tools.privileges;
    if (tools.privileges && tools.namespaces !== 'none') {
      const change = { separation: 'own', privateFolders, openFolders, privileges } as const;
      keepIfWorking(change, seesNothing, privateFolders);
    }
  }
  keepIfWorking({ isUnprivileged: true }, hasNoPrivileges);
  return tools;
}

/** What processes must be able to read: the folders of code, one file of the service and one of a dependency, and Node. */
const neededCode = () => [
  ...serviceCode(),
  packageDescription,
  fileURLToPath(import.meta.url),
  fileURLToPath(import.meta.resolve('quickjs-wasi')),
  process.execPath,
];

const parentOptions = ['--no-new-privs', '--pdeathsig', 'KILL'];
const withoutCapabilities = ['--inh-caps=-all', '--ambient-caps=-all'];

/** From the options that remove most to those that remove least. Only root can change the bounding set. */
const privilegeOptions = [
  [...withoutCapabilities, '--bounding-set=-all', ...parentOptions],
  [...withoutCapabilities, ...parentOptions],
  parentOptions,
];

/** A script that fails if the shell itself has or can gain privileges, by its status from the kernel. */
const hasNoPrivileges = `while read -r name value rest; do
  case $name$value in NoNewPrivs:0 | CapPrm:*[1-9a-f]* | CapEff:*[1-9a-f]*) exit 1 ;; esac
done </proc/self/status`;

/** A script that fails where it sees files of the machine, and where Node, whose path is its argument, does not start. */
const startsNode = '[ ! -e /etc/passwd ] && "$1" --version';

/** A script that fails where it sees another process, or a file in one of the folders that are its arguments. */
const seesNothing = `[ $$ -eq 1 ] || exit 1
for one in /proc/[0-9]*; do [ "$one" = /proc/1 ] || exit 1; done
for folder; do [ -z "$(ls -A "$folder")" ] || exit 1; done`;

/** A script that prints the first of its arguments that cannot be read, and fails if there is one. */
const readsAll = 'for path; do [ -r "$path" ] || { printf %s "$path"; exit 1; }; done';

function findUser(tools: SystemTools, code: readonly string[]): Partial<SystemTools> {
  // Without CAP_KILL the service could not kill its processes.
  if (!hasCapabilities(5, 6, 7)) {
    return { userProblem: 'the service lacks the capabilities CAP_SETUID, CAP_SETGID and CAP_KILL' };
  }
  // After the change of user, the bounding set can no longer be changed, and need not be.
  const privileges = tools.privileges?.filter((option) => !option.startsWith('--bounding-set'));
  const users = userRanges.find((range) => runs({ ...tools, privileges, users: range }).status === 0);
  if (!users) {
    const ids = userRanges.map(({ first }) => first).join(' or ');
    return { userProblem: `the system does not let the service use the user id ${ids}` };
  }
  const change = { users, privileges };
  const { status, stdout } = runs({ ...tools, ...change }, readsAll, code);
  if (status === 0) return change;
  return {
    userProblem:
      `other users cannot read ${stdout || 'its code'}, which the processes need; install the service where ` +
      'every user can read it, such as in /opt',
  };
}

/** The limit of memory for trying whether it holds, in bytes: enough for a shell. */
const triedMemory = 4 * mebibyte;

/** A script that stores a text twice as long as the limit of memory. It prints when it begins, and when it has the text. */
const fillsMemory = `printf begun; text=$(head -c ${2 * triedMemory} /dev/zero | tr '\\0' x) && printf ' done'`;

/** Whether the system enforces a limit of memory: a process with the limit fails, and one without it does not. */
function refusesMemory(tools: SystemTools): boolean {
  const { stdout: unlimited } = runs(tools, fillsMemory);
  const { stdout: limited } = runs(tools, fillsMemory, [], { dataLimit: triedMemory });
  return unlimited === 'begun done' && limited === 'begun';
}

/** Whether the system keeps a process from writing, even to a file that it gets as an open descriptor. */
function refusesWrites(tools: SystemTools): boolean {
  let folder: string | undefined;
  let file: number | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'plugin-service-'));
    file = openSync(join(folder, 'written'), 'w');
    const { status } = runs(tools, 'printf written', [], { output: file });
    return status !== 0 && fstatSync(file).size === 0;
  } catch {
    // There is no folder to try it in, so it has to suffice that the limit can be set.
    return runs(tools, '[ "$(ulimit -f)" = 0 ]').status === 0;
  } finally {
    if (file !== undefined) closeSync(file);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a shell script, confined like a native program. `output`: a file for its standard output. */
function runs(
  tools: SystemTools,
  script = ':',
  args: readonly string[] = [],
  { dataLimit, output }: { readonly dataLimit?: number; readonly output?: number } = {},
) {
  const line = confinedCommandLine(
    {
      command: systemShell,
      args: ['-c', script, systemShell, ...args],
      dataLimit,
      visible: [process.execPath],
      user: tools.users?.first,
    },
    undefined,
    tools,
  );
  return spawnSync(line.command, line.args, {
    env: {},
    stdio: ['ignore', output ?? 'pipe', 'ignore'],
    encoding: 'utf8',
    // On a busy machine a try takes seconds, and one that is cut off would count as a layer that does not hold.
    timeout: 30_000,
  });
}

export const isRoot = (): boolean => process.getuid?.() === 0;

/** Whether this process has these capabilities, by their numbers in the kernel. */
function hasCapabilities(...numbers: number[]): boolean {
  const [, mask = '0'] = /^CapEff:\s*([\da-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return numbers.every((number) => (BigInt(`0x${mask}`) >> BigInt(number)) & 1n);
}
