import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageDescription, serviceCode } from './package-folders.ts';
import { confinedCommandLine } from './system-isolation.ts';

/** What this machine offers to confine a process with. Each of these was tried, and not only looked for. */
export interface SystemTools {
  /** A POSIX shell, which sets limits (`ulimit`) before it becomes the program. Without it there are no limits. */
  readonly shell: string | undefined;
  /** The id of the user and group that processes run as. `undefined`: those of the service. */
  readonly user: number | undefined;
  /** Why a service that was started as root cannot run its processes as another user. */
  readonly userProblem: string | undefined;
  /**
   * How a process is given a network of its own, which has nothing but a loopback: within a user namespace (`user`), which
   * also separates processes of the same user, or by the rights of root (`root`).
   */
  readonly namespaces: 'user' | 'root' | 'none';
  /**
   * Options of `setpriv` that take away all privileges and have the kernel end the process together with the service.
   * Without it (other systems than Linux, or no util-linux) a shell beside the program watches for the service's end.
   */
  readonly privileges: readonly string[] | undefined;
  /** Whether no privilege is left to the process, and none can be gained. */
  readonly isUnprivileged: boolean;
  /** Whether `prlimit` can bound the number of processes and threads in a way that holds. */
  readonly limitsProcesses: boolean;
  /** Whether the system refuses a process memory past its limit (`ulimit -d`). */
  readonly limitsMemory: boolean;
  /** Whether the system keeps a process from writing to files (`ulimit -f`). */
  readonly limitsWrites: boolean;
  /** Whether bubblewrap (`bwrap`) can show a native program no files but its own and the system's programs. */
  readonly hidesFiles: boolean;
}

/**
 * The user and group that processes run as when the service runs as root. It has no account, so that nothing on the machine
 * belongs to it; "nobody" is shared with other services. It fits in the 65,536 ids that many containers have, and is outside
 * of those that Debian and systemd give away.
 */
export const unprivilegedUser = 65_530;

const systemShell = '/bin/sh';

export const noSystemTools: SystemTools = {
  shell: undefined,
  user: undefined,
  userProblem: undefined,
  namespaces: 'none',
  privileges: undefined,
  isUnprivileged: false,
  limitsProcesses: false,
  limitsMemory: false,
  limitsWrites: false,
  hidesFiles: false,
};

let found: SystemTools | undefined;

/**
 * What works on this machine; what a container or another system refuses is left out. It is tried at the first call, which
 * takes some 50 ms; later calls answer at once.
 */
export function systemTools(): SystemTools {
  found ??= findTools();
  return found;
}

/**
 * @param code what processes have to be able to read, also as another user (default: the service's code and Node itself)
 * @param shell a POSIX shell
 */
export function findTools(code: readonly string[] = neededCode(), shell = systemShell): SystemTools {
  if (process.platform === 'win32' || !existsSync(shell)) return noSystemTools;
  let tools: SystemTools = { ...noSystemTools, shell };
  tools = { ...tools, limitsMemory: refusesMemory(tools), limitsWrites: refusesWrites(tools) };
  const keepIfWorking = (change: Partial<SystemTools>, script?: string) => {
    const isWorking = runs({ ...tools, ...change }, script).status === 0;
    if (isWorking) tools = { ...tools, ...change };
    return isWorking;
  };

  for (const privileges of privilegeOptions) if (keepIfWorking({ privileges })) break;
  if (process.platform !== 'linux') return tools;
  if (isRoot()) tools = { ...tools, ...findUser(tools, code) };
  if (!keepIfWorking({ namespaces: 'user' }) && isRoot()) keepIfWorking({ namespaces: 'root' });
  // Root is exempt from this limit, also within a user namespace.
  if (!isRoot() || tools.user !== undefined) {
    // Without either, the limit would count all that the service's user runs on the machine.
    if (tools.namespaces === 'user' || tools.user !== undefined) keepIfWorking({ limitsProcesses: true });
  }
  keepIfWorking({ isUnprivileged: true }, hasNoPrivileges);
  keepIfWorking({ hidesFiles: true }, '[ ! -e /etc/passwd ]');
  return tools;
}

/** Folders, and a file for each way in which these are installed: what can be read of them tells of the rest. */
const neededCode = () => [
  ...serviceCode(),
  packageDescription,
  fileURLToPath(import.meta.url),
  fileURLToPath(import.meta.resolve('quickjs-wasi')),
  process.execPath,
];

const parentOptions = ['--no-new-privs', '--pdeathsig', 'KILL'];
const withoutCapabilities = ['--inh-caps=-all', '--ambient-caps=-all'];

/** From the most that can be taken away to the least. Only root can take from the bounding set. */
const privilegeOptions = [
  [...withoutCapabilities, '--bounding-set=-all', ...parentOptions],
  [...withoutCapabilities, ...parentOptions],
  parentOptions,
];

/** Reads with the shell alone what the kernel says of it. */
const hasNoPrivileges = `while read -r name value rest; do
  case $name$value in NoNewPrivs:0 | CapPrm:*[1-9a-f]* | CapEff:*[1-9a-f]*) exit 1 ;; esac
done </proc/self/status`;

/** Prints the first of its arguments that cannot be read, and fails then. */
const readsAll = 'for path; do [ -r "$path" ] || { printf %s "$path"; exit 1; }; done';

function findUser(tools: SystemTools, code: readonly string[]): Partial<SystemTools> {
  // Without CAP_KILL the service could not end what it has started.
  if (!hasCapabilities(5, 6, 7)) {
    return { userProblem: 'the service lacks the capabilities CAP_SETUID, CAP_SETGID and CAP_KILL' };
  }
  // The last step could not take from the bounding set any more, nor need it.
  const privileges = tools.privileges?.filter((option) => !option.startsWith('--bounding-set'));
  const change = { user: unprivilegedUser, privileges };
  if (runs({ ...tools, ...change }).status !== 0) {
    return { userProblem: `the system does not let the service use the user id ${unprivilegedUser}` };
  }
  const { status, stdout } = runs({ ...tools, ...change }, readsAll, code);
  if (status === 0) return change;
  return {
    userProblem:
      `other users cannot read ${stdout || 'its code'}, which the processes need; install the service where ` +
      'every user can read it, such as in /opt',
  };
}

/** How much a process may have when it is tried whether it gets more, in bytes: enough for a shell. */
const triedMemory = 4 * 2 ** 20;

/** Has the shell keep a text twice as long as it has memory for. It says when it begins and when it has it. */
const fillsMemory = `printf begun; text=$(head -c ${2 * triedMemory} /dev/zero | tr '\\0' x) && printf ' done'`;

/** Whether a process that asks for more memory than its limit does not get it, and one without a limit does. */
function refusesMemory(tools: SystemTools): boolean {
  const { stdout: unlimited } = runs(tools, fillsMemory);
  const { stdout: limited } = runs(tools, fillsMemory, [], { dataLimit: triedMemory });
  return unlimited === 'begun done' && limited === 'begun';
}

/** Whether a process cannot write, not even to a file that it is handed open. */
function refusesWrites(tools: SystemTools): boolean {
  let folder: string | undefined;
  let file: number | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'plugin-service-'));
    file = openSync(join(folder, 'written'), 'w');
    const { status } = runs(tools, 'printf written', [], { output: file });
    return status !== 0 && fstatSync(file).size === 0;
  } catch {
    // There is nowhere to write to, here or for the service: the limit as it is set has to do.
    return runs(tools, '[ "$(ulimit -f)" = 0 ]').status === 0;
  } finally {
    if (file !== undefined) closeSync(file);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a script of the shell confined as a native program would be. `output`: a file for its standard output. */
function runs(
  tools: SystemTools,
  script = ':',
  args: readonly string[] = [],
  { dataLimit, output }: { readonly dataLimit?: number; readonly output?: number } = {},
) {
  const line = confinedCommandLine(
    { command: systemShell, args: ['-c', script, systemShell, ...args], dataLimit, visible: [] },
    undefined,
    tools,
  );
  return spawnSync(line.command, line.args, {
    env: {},
    stdio: ['ignore', output ?? 'pipe', 'ignore'],
    encoding: 'utf8',
    timeout: 5000,
  });
}

export const isRoot = (): boolean => process.getuid?.() === 0;

/** Whether this process has these capabilities, by their numbers in the kernel. */
function hasCapabilities(...numbers: number[]): boolean {
  const [, mask = '0'] = /^CapEff:\s*([\da-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return numbers.every((number) => (BigInt(`0x${mask}`) >> BigInt(number)) & 1n);
}
