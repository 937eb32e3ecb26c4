import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** What the system offers to confine a process with. */
export interface SystemTools {
  /** A POSIX shell, which sets limits (`ulimit`) before it becomes the program. Without it there are no limits. */
  readonly shell: string | undefined;
  /** A command in front of the program that gives it no network, or nothing where the system does not permit that. */
  readonly withoutNetwork: readonly string[];
  /**
   * A command in front of the program that gives it no new privileges and has the kernel end it together with the
   * service. Without it (other systems than Linux, or no util-linux) a shell beside the program watches for that.
   */
  readonly withParent: readonly string[];
}

const shell = '/bin/sh';

let found: SystemTools | undefined;

/** Tries once what works on this machine; what a container or another system refuses is left out. Synchronous, a few ms. */
export function systemTools(): SystemTools {
  found ??= findTools();
  return found;
}

function findTools(): SystemTools {
  if (process.platform === 'win32' || !existsSync(shell)) {
    return { shell: undefined, withoutNetwork: [], withParent: [] };
  }
  const works = (command: readonly string[]) =>
    spawnSync(shell, ['-c', 'exec "$@"', shell, ...command, shell, '-c', ':'], {
      env: {},
      stdio: 'ignore',
      timeout: 5000,
    }).status === 0;
  const ifWorking = (command: readonly string[]) => (works(command) ? command : []);
  return {
    shell,
    withoutNetwork: ifWorking(['unshare', '--user', '--net', '--ipc', '--']),
    withParent: ifWorking(['setpriv', '--no-new-privs', '--pdeathsig', 'KILL', '--']),
  };
}

export interface Confinement {
  readonly command: string;
  readonly args: readonly string[];
  /** The most private memory that the process may ask the system for, in bytes (`RLIMIT_DATA`). */
  readonly dataLimit: number | undefined;
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
 * open), with bounds on memory and descriptors. `descriptors`: how many the program is handed.
 */
export function confinedCommandLine(
  { command, args, dataLimit }: Confinement,
  descriptors: number,
  tools = systemTools(),
): CommandLine {
  if (tools.shell === undefined) return { command, args, watchesPipe: false };
  const watchesPipe = tools.withParent.length === 0;
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
    args: ['-c', script, tools.shell, ...tools.withoutNetwork, ...tools.withParent, command, ...args],
    watchesPipe,
  };
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
