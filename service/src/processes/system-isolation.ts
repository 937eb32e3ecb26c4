import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { SystemTools } from './system-tools.ts';
import { mebibyte } from '../units.ts';

export interface Confinement {
  readonly command: string;
  readonly args: readonly string[];
  /** The limit of private memory, in bytes (`RLIMIT_DATA`). */
  readonly dataLimit: number | undefined;
  /**
   * For a native program: the files and folders that it can see beside the system's programs, where the system can hide the others.
   * `undefined` for Node, which has its permission model.
   */
  readonly visible?: readonly string[] | undefined;
}

export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
  /**
   * Whether the command needs a pipe as its last descriptor. It ends when that is closed, which happens when the service ends.
   */
  readonly watchesPipe: boolean;
}

/**
 * The command line that runs a program confined: without environment variables, without writes to files (except open descriptors),
 * with limits of memory, descriptors and processes, and with all other means that `tools` has. `descriptors`: how many the program
 * gets; `undefined` for a program that ends by itself, so that nothing has to watch for the service's end.
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
    // The stacks of threads count as data in full, so they must not be larger than the limit allows for.
    `ulimit -S -s ${stackSize / 1024}`,
    ...(dataLimit === undefined ? [] : [`ulimit -d ${Math.ceil(dataLimit / 1024)}`]),
  ];
  // A shell in the background waits until the service has ended, and then kills the process group.
  const watchdog = `(read -r line <&${descriptors}; kill -s KILL 0) >/dev/null 2>&1 &`;
  const script = [
    ...limits.map((limit) => `${limit} 2>/dev/null`),
    ...(watchesPipe ? [watchdog] : []),
    // "env -i" removes the variables that the shell has added.
    `exec env -i "$@"${watchesPipe ? ` ${descriptors}<&-` : ''}`,
  ].join('\n');
  return {
    command: tools.shell,
    args: ['-c', script, tools.shell, ...commandsInFront(confinement, tools), command, ...args],
    watchesPipe,
  };
}

/** The commands in front of the program. Each one takes something away from the process, and executes the next. */
function commandsInFront({ visible }: Confinement, tools: SystemTools): string[] {
  const { user, namespaces, privileges, limitsProcesses } = tools;
  const hidesFiles = tools.hidesFiles && visible !== undefined;
  const isAlone = hidesFiles || namespaces === 'user';
  const limit = processLimit(isAlone);
  return [
    // Before the change of user, because only root can do this.
    ...(namespaces === 'root' ? ['unshare', '--net', '--ipc', '--'] : []),
    ...(user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--']),
    ...(hidesFiles ? bubblewrap(visible) : []),
    ...(namespaces === 'user' && !hidesFiles ? ['unshare', '--user', '--net', '--ipc', '--'] : []),
    // Within the user namespace, in which only its own processes are counted.
    ...(limitsProcesses ? ['prlimit', `--nproc=${limit}:${limit}`, '--'] : []),
    // Last, because a change of user clears the signal that ends the process with its parent.
    ...(privileges ? ['setpriv', ...privileges, '--'] : []),
  ];
}

/**
 * The arguments of bubblewrap that give a program a root folder with nothing but its own files and the system's programs, all
 * read-only, and its own namespaces for users, processes, network and the rest.
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
    // Removes the variable `PWD`, which bubblewrap sets.
    'env',
    '-i',
  ];
}

/** Where distributions keep programs and their libraries. */
const systemFolders = ['/usr', '/bin', '/lib', '/lib64'];

/**
 * The limit of processes and threads. `isAlone`: whether the process is in a user namespace of its own, in which only its own
 * threads are counted. Node needs a dozen, and a program in Go, or an add-on in Rust, some for each processor. Otherwise the limit
 * is for all processes of the user together: 8 runners, 16 compilers, 4 of language help and 2 for schemas, most of these with a native
 * program.
 */
function processLimit(isAlone: boolean): number {
  return isAlone ? 32 + 4 * availableParallelism() : 512 + 32 * availableParallelism();
}

/** The stack of a thread, in bytes. */
const stackSize = 8 * mebibyte;

/** How many threads a Node process starts by itself, with some to spare. */
const nodeThreads = 8;

/**
 * How much memory a Node process reserves before it uses any, in bytes: mostly V8's reservation for machine code, which counts as
 * data although it is hardly used. It is read from the service's own process, because it differs between machines. `undefined`
 * where it cannot be read, and on systems other than Linux, which have no such limit.
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
