import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import type { SystemTools } from './system-tools.ts';
import { mebibyte } from '../units.ts';

export interface Confinement {
  readonly command: string;
  readonly args: readonly string[];
  /** The limit of private memory, in bytes (`RLIMIT_DATA`). */
  readonly dataLimit: number | undefined;
  /** The program's own files and folders. Bubblewrap shows it these and the system's programs, and nothing else. */
  readonly visible: readonly string[];
  /** The id of the user and group that the program runs as (default: those of the service). */
  readonly user: number | undefined;
}

export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
  /**
   * Whether the command needs a pipe as its last descriptor. It ends when that is closed, which happens when the service ends.
   */
  readonly watchesPipe: boolean;
  /** Whether the program is the only child of the process that is started, and not that process itself. */
  readonly hasParent: boolean;
}

/**
 * The command line that runs a program confined: without environment variables, without writes to files (except open descriptors),
 * with limits of memory, descriptors and processes, and with all other means that `tools` has.
 * @param descriptors how many the program gets; `undefined` for one that ends by itself, so that nothing has to watch for the
 * service's end
 */
export function confinedCommandLine(
  confinement: Confinement,
  descriptors: number | undefined,
  tools: SystemTools,
): CommandLine {
  const { command, args, dataLimit } = confinement;
  if (tools.shell === undefined) return { command, args, watchesPipe: false, hasParent: false };
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
    hasParent: tools.separation !== 'none',
  };
}

/**
 * The commands in front of the program. Each takes something away from the process, and executes the next. `bwrap` and
 * `unshare --fork` stay as the parent of what follows, because a process cannot move itself into another process namespace.
 */
function commandsInFront({ visible, user }: Confinement, tools: SystemTools): string[] {
  const { namespaces, separation, privileges, limitsProcesses } = tools;
  const isOwnNamespace = separation === 'bubblewrap' || namespaces === 'user';
  const limit = processLimit(isOwnNamespace || user !== undefined);
  const changeUser =
    user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--'];
  return [
    // A process of another user can make a namespace for users, but none of the others, which only root can.
    ...(namespaces === 'root' ? [] : changeUser),
    ...(separation === 'bubblewrap' ? bubblewrap(visible) : unshare(tools)),
    ...(namespaces === 'root' ? changeUser : []),
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
    // Several paths may lead over one link, which bubblewrap makes only once.
    ...[...new Map(visible.flatMap(mounts).map((mount) => [mount[2], mount])).values()].flat(),
    '--remount-ro',
    '/',
    '--chdir',
    '/',
    '--',
    // Removes the variable `PWD`, which bubblewrap sets.
    'env',
    '-i',
  ];
}

/**
 * The arguments that show a path. A link stays a link, because Node looks for a package's dependencies where the link leads to, as
 * pnpm installs them.
 */
function mounts(path: string): [option: string, source: string, place: string][] {
  const link = firstLink(path);
  if (link === undefined) return [['--ro-bind', path, path]];
  const target = readlinkSync(link);
  const rest = mounts(join(resolve(dirname(link), target), relative(link, path)));
  // The links of the system are there with its folders.
  const isOfSystem = systemFolders.some((folder) => link.startsWith(`${folder}/`) || link === folder);
  return isOfSystem ? rest : [['--symlink', target, link], ...rest];
}

/** The first part of a path that is a symbolic link. */
function firstLink(path: string): string | undefined {
  const parent = dirname(path);
  const above = parent === path ? undefined : firstLink(parent);
  return above ?? (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? path : undefined);
}

/** Where distributions keep programs and their libraries, and the index of the libraries. */
const systemFolders = ['/usr', '/bin', '/lib', '/lib64', '/etc/ld.so.cache'];

/**
 * The commands that put a program into new namespaces without bubblewrap. With separation, it sees no process but itself, and
 * empty read-only folders where programs share files and sockets.
 */
function unshare({ namespaces, separation, privileges, privateFolders }: SystemTools): string[] {
  if (namespaces === 'none') return [];
  // The mounts need the rights of root in the namespace. The program loses them again.
  const user = namespaces === 'user' ? ['--user', ...(separation === 'own' ? ['--map-root-user'] : [])] : [];
  const own = ['unshare', ...user, '--net', '--ipc'];
  if (separation !== 'own') return [...own, '--'];
  const script = [
    'mount -t proc -o nosuid,nodev,noexec proc /proc',
    ...privateFolders.map((folder) => `mount -t tmpfs -o ro,nosuid,nodev,noexec tmpfs ${folder}`),
    'exec env -i "$@"',
  ].join(' && ');
  return [
    // Ends the parent with the service, and with the parent the program.
    ...(privileges ? ['setpriv', '--pdeathsig', 'KILL', '--'] : []),
    ...own,
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    '--',
    '/bin/sh',
    '-c',
    script,
    'sh',
  ];
}

/**
 * The limit of processes and threads. `isAlone`: whether nothing else counts with the process, because it has its own user or
 * namespace for users. Node needs a dozen, and a program in Go, or an add-on in Rust, some for each processor. Otherwise the
 * limit is for all processes of the user together: 8 runners, 16 compilers, 4 of language help and 2 for schemas, most of these
 * with a native program.
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
