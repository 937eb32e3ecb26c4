import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { SystemTools } from './system-tools.ts';

export interface Confinement {
  readonly command: string;
  readonly args: readonly string[];
  /** The most private memory that the process may ask the system for, in bytes (`RLIMIT_DATA`). */
  readonly dataLimit: number | undefined;
  /**
   * For a native program: the files and folders that it is to see beside the system's own programs, where that is possible.
   * `undefined` for Node, which keeps to its own permissions.
   */
  readonly visible?: readonly string[] | undefined;
}

export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
  /**
   * Whether the command takes one more pipe, as the last of its descriptors, and ends when that is closed, which it is
   * with the service.
   */
  readonly watchesPipe: boolean;
}

/**
 * The command line that runs a program confined: without variables, unable to write to files (but to what it is handed
 * open), with bounds on memory, descriptors and processes, and with all that `tools` offers. `descriptors`: how many the
 * program is handed; `undefined` for a program that ends by itself, so that nothing has to watch for the service's end.
 */
export function confinedCommandLine(
  confinement: Confinement,
  descriptors: number | undefined,
  tools: SystemTools,
): CommandLine {
  const { command, args, dataLimit } = confinement;
  if (tools.shell === undefined) return { command, args, watchesPipe: false };
  const watchesPipe = tools.privileges === undefined && descriptors !== undefined;
  const limits = [
    'ulimit -c 0',
    'ulimit -f 0',
    'ulimit -n 256',
    // Stacks of threads count as data in full, so they must not be larger than is reckoned with.
    `ulimit -S -s ${stackSize / 1024}`,
    ...(dataLimit === undefined ? [] : [`ulimit -d ${Math.ceil(dataLimit / 1024)}`]),
  ];
  // The shell in the background reads until the service is gone, and then ends all of the process group.
  const watchdog = `(read -r line <&${descriptors}; kill -s KILL 0) >/dev/null 2>&1 &`;
  const script = [
    ...limits.map((limit) => `${limit} 2>/dev/null`),
    ...(watchesPipe ? [watchdog] : []),
    // The shell adds variables of its own, which "env -i" takes away again.
    `exec env -i "$@"${watchesPipe ? ` ${descriptors}<&-` : ''}`,
  ].join('\n');
  return {
    command: tools.shell,
    args: ['-c', script, tools.shell, ...commandsInFront(confinement, tools), command, ...args],
    watchesPipe,
  };
}

/** Commands, each of which takes something away from the process and becomes the next one. */
function commandsInFront({ visible }: Confinement, tools: SystemTools): string[] {
  const { user, namespaces, privileges, limitsProcesses } = tools;
  const hidesFiles = tools.hidesFiles && visible !== undefined;
  const isAlone = hidesFiles || namespaces === 'user';
  const limit = processLimit(isAlone);
  return [
    // Only root can do this, so it comes before the change of user.
    ...(namespaces === 'root' ? ['unshare', '--net', '--ipc', '--'] : []),
    ...(user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--']),
    ...(hidesFiles ? bubblewrap(visible) : []),
    ...(namespaces === 'user' && !hidesFiles ? ['unshare', '--user', '--net', '--ipc', '--'] : []),
    // Within the user namespace, where the processes of this namespace alone are counted.
    ...(limitsProcesses ? ['prlimit', `--nproc=${limit}:${limit}`, '--'] : []),
    // The last step, because a change of user takes back that the process ends with its parent.
    ...(privileges ? ['setpriv', ...privileges, '--'] : []),
  ];
}

/**
 * A root of its own for a program, with its own files and what the system's programs are made of, all of it read-only; and
 * namespaces of its own for users, processes, network and the rest.
 */
function bubblewrap(visible: readonly string[]): string[] {
  const namespaces = [
    '--unshare-all',
    '--unshare-user',
    '--die-with-parent',
    '--as-pid-1',
    '--cap-drop',
    'ALL',
  ];
  // Programs take these two for granted.
  const devices = ['--proc', '/proc', '--dev-bind', '/dev/null', '/dev/null'];
  return [
    'bwrap',
    ...namespaces,
    ...devices,
    ...systemFolders.flatMap((folder) => ['--ro-bind-try', folder, folder]),
    ...visible.flatMap((path) => ['--ro-bind', path, path]),
    '--chdir',
    '/',
    '--',
    // It sets one for the folder that the program starts in.
    'env',
    '-i',
  ];
}

/** Where distributions keep programs and their libraries. */
const systemFolders = ['/usr', '/bin', '/lib', '/lib64'];

/**
 * How many processes and threads there may be. `isAlone`: in a user namespace of its own, where they are counted for the one
 * process. Node needs a dozen, and a program in Go, or an add-on in Rust, some for each processor. Otherwise the limit is for
 * all processes of the user together: 8 runners and 16 compilers, which may have as many native programs.
 */
function processLimit(isAlone: boolean): number {
  return isAlone ? 32 + 4 * availableParallelism() : 512 + 32 * availableParallelism();
}

/** The stack of a thread, in bytes. */
const stackSize = 8 * 2 ** 20;

/** How many threads a Node process starts by itself, with some to spare. */
const nodeThreads = 8;

/**
 * What a Node process asks the system for before it holds anything, in bytes: mostly V8's reservation for machine code,
 * which counts as data though it is hardly used. It is read off the service's own process, because it differs between
 * machines. `undefined` where the system has no such limit (other than Linux).
 */
export function nodeReservation(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  let maps: string;
  try {
    maps = readFileSync('/proc/self/maps', 'utf8');
  } catch {
    return undefined;
  }
  let reserved = nodeThreads * stackSize;
  for (const [, from = '', to = ''] of maps.matchAll(/^([\da-f]+)-([\da-f]+) rwxp /gm)) {
    reserved += Number.parseInt(to, 16) - Number.parseInt(from, 16);
  }
  return reserved;
}
