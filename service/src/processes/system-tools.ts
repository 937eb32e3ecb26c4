import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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
  /** Whether bubblewrap (`bwrap`) can show a native program no files but its own and the system's programs. */
  readonly hidesFiles: boolean;
}

/**
 * The user and group that processes run as when the service runs as root. It has no account, so that nothing on the machine
 * belongs to it; "nobody" is shared with other services. It fits in the 65,536 ids that many containers have, and is outside
 * of those that Debian and systemd give away.
 */
export const unprivilegedUser = 65_530;

const shell = '/bin/sh';

export const noTools: SystemTools = {
  shell: undefined,
  user: undefined,
  userProblem: undefined,
  namespaces: 'none',
  privileges: undefined,
  isUnprivileged: false,
  limitsProcesses: false,
  hidesFiles: false,
};

let found: SystemTools | undefined;

/**
 * What works on this machine; what a container or another system refuses is left out. It is tried at the first call, which
 * takes some 20 ms; later calls answer at once.
 */
export function systemTools(): SystemTools {
  found ??= findTools();
  return found;
}

/** `code`: what processes have to be able to read, also as another user (default: the service's code and Node itself). */
export function findTools(code: readonly string[] = neededCode()): SystemTools {
  if (process.platform === 'win32' || !existsSync(shell)) return noTools;
  let tools: SystemTools = { ...noTools, shell };
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

/** Runs a script of the shell confined as a native program would be. */
function runs(tools: SystemTools, script = ':', args: readonly string[] = []) {
  const line = confinedCommandLine(
    { command: shell, args: ['-c', script, shell, ...args], dataLimit: undefined, visible: [] },
    undefined,
    tools,
  );
  return spawnSync(line.command, line.args, {
    env: {},
    stdio: ['ignore', 'pipe', 'ignore'],
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
