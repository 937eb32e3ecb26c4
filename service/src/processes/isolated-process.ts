import { spawn } from 'node:child_process';
import type { ChildProcess, IOType } from 'node:child_process';
import { constants } from 'node:os';
import type { Stream } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { moduleUrl } from './module-url.ts';
import { packageDescription } from './package-folders.ts';
import { confinedCommandLine, nodeReservation } from './system-isolation.ts';
import type { Confinement } from './system-isolation.ts';
import { systemTools } from './system-tools.ts';
import type { SystemTools, UserRange } from './system-tools.ts';
import { onlyChildOf } from './memory.ts';
import { mebibyte } from '../units.ts';

/** A descriptor of a new process: a new pipe, nothing, or the open end of another process's pipe. */
export type Descriptor = Extract<IOType, 'pipe' | 'ignore'> | Stream;

interface ProcessOptions {
  /** The limit of private memory, in bytes. Linux enforces it; on other systems the caller has to watch the process. */
  readonly memoryLimit: number;
  /** Standard input, output and errors, and further descriptors from 3 on. */
  readonly stdio: readonly Descriptor[];
  /** The means of isolation (default: those that {@link systemTools} has found). */
  readonly tools?: SystemTools;
}

export interface IsolatedOptions extends ProcessOptions {
  /** The URL of a module of this service. It is loaded after `lockdown.ts`. */
  readonly file: URL;
  readonly args?: readonly string[];
  /** The files and folders that the process may read: its own code. */
  readonly readable: readonly string[];
  /** Further permissions: to load native add-ons. */
  readonly needs?: readonly 'addons'[];
  /** Options of Node beyond those that isolate the process, such as V8's. */
  readonly nodeOptions?: readonly string[];
  /** Node's limit of the JavaScript heap, in MiB (default: 3/4 of `memoryLimit`). */
  readonly heapLimit?: number;
}

export interface NativeOptions extends ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The program's own files and folders. Where bubblewrap works, it sees nothing else but the system's programs. */
  readonly visible: readonly string[];
}

/** A process that the service has started, as the leader of a new process group. */
export interface IsolatedProcess {
  readonly child: ChildProcess;
  /** The id of the program's process; `undefined` where it has not started or has ended. */
  readonly pid: () => number | undefined;
  /** Kills the process and everything that it started, at once (SIGKILL). */
  readonly kill: () => void;
}

const lockdown = moduleUrl('./lockdown', import.meta.url);
const replacedModules = moduleUrl('./replaced-modules', import.meta.url);

/** The files that every process reads: `lockdown.ts`, its imports, and the `package.json`, for the package's type of modules. */
const alwaysReadable = [fileURLToPath(lockdown), fileURLToPath(replacedModules), packageDescription];

/**
 * Runs a module of the service in a process that has no environment variables, can read only the named files, and can neither write
 * files, nor start programs, nor reach the network from JavaScript. Where the system permits it, the process has no network and no
 * privileges at all. It ends with the service, however that ends. When it runs out of memory, it exits.
 *
 * Throws where the system refuses a process, because it has no memory or no file descriptors left.
 */
export function startIsolated(options: IsolatedOptions): IsolatedProcess {
  const { file, args = [], readable, needs = [], nodeOptions = [], memoryLimit } = options;
  const { heapLimit = Math.ceil((memoryLimit / mebibyte) * 0.75) } = options;
  const reserved = nodeReservation();
  const nodeArgs = [
    '--permission',
    ...[...new Set([...alwaysReadable, ...readable])].map((path) => `--allow-fs-read=${path}`),
    ...needs.map((need) => `--allow-${need}`),
    `--max-old-space-size=${heapLimit}`,
    // Otherwise a signal would open a port for debugging.
    '--disable-sigusr1',
    '--no-warnings',
    ...nodeOptions,
    `--import=${lockdown.href}`,
    fileURLToPath(file),
    ...args,
  ];
  const dataLimit = reserved === undefined ? undefined : reserved + memoryLimit;
  const visible = [process.execPath, ...alwaysReadable, ...readable];
  return start(options, { command: process.execPath, args: nodeArgs, dataLimit, visible });
}

/**
 * Runs a native program. Of the limits of {@link startIsolated}, only those that the system enforces apply to it, because Node's
 * permission model does not. Throws as {@link startIsolated}.
 */
export function startNative(options: NativeOptions): IsolatedProcess {
  const { command, args, visible, memoryLimit } = options;
  const dataLimit = process.platform === 'linux' ? memoryLimit : undefined;
  return start(options, { command, args, dataLimit, visible });
}

function start(
  { stdio, tools = systemTools() }: ProcessOptions,
  confinement: Omit<Confinement, 'user'>,
): IsolatedProcess {
  const user = tools.users && takeUser(tools.users);
  const line = confinedCommandLine({ ...confinement, user }, stdio.length, tools);
  const child = spawn(line.command, line.args, {
    env: {},
    stdio: [...stdio, ...(line.watchesPipe ? (['pipe'] as const) : [])],
    // In a new process group, so that it can be killed with everything that it started.
    detached: true,
    windowsHide: true,
  });
  const release = () => {
    if (user !== undefined) usedUsers.delete(user);
  };
  if (child.pid === undefined) release();
  if (!hasPipes(child)) {
    // Node emits the error later. Without a listener, it would end the service.
    child.once('error', () => {});
    throw new Error('The system has no file descriptors left for the pipes of a new process.');
  }
  // The pipe is closed when the service ends, and must not keep the service running.
  const watched = line.watchesPipe ? child.stdio[stdio.length] : undefined;
  if (watched && 'unref' in watched) (watched as { unref(): void }).unref();
  watched?.on('error', () => {});
  child.once('exit', () => {
    watched?.destroy();
    // Native code may have started processes, which outlive their parent. The group keeps its id while one of them lives.
    signalGroup(child);
    release();
  });
  let program: number | undefined;
  const pid = () => {
    if (child.exitCode !== null || child.signalCode !== null) return undefined;
    return (program ??= line.hasParent && child.pid !== undefined ? onlyChildOf(child.pid) : child.pid);
  };
  return { child, pid, kill: () => killGroup(child) };
}

/** The users whose processes have not ended. */
const usedUsers = new Set<number>();

/** How many ids of users are kept apart for one process of the service, so that two services rarely use the same. */
const usersOfService = 64;

/** Takes an id that no other process of this service has. */
function takeUser({ first, count }: UserRange): number {
  const offset = process.pid * usersOfService;
  for (let i = 0; i < count; i++) {
    const user = first + ((offset + i) % count);
    if (usedUsers.has(user)) continue;
    usedUsers.add(user);
    return user;
  }
  throw new Error(`All ${count} user ids for processes are in use.`);
}

/** How a process ended, for messages. The parents of confined programs pass a signal on as 128 and its number. */
export function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  const [name] = Object.entries(constants.signals).find(([, number]) => number + 128 === code) ?? [];
  return signal ?? name ?? `exit code ${code}`;
}

/** Whether the child has its pipes. Node returns one without any where the limit of open files is reached (EMFILE, ENFILE). */
function hasPipes(child: Partial<Pick<ChildProcess, 'stdio'>>): boolean {
  return child.stdio !== undefined;
}

function killGroup(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (!signalGroup(child)) child.kill('SIGKILL');
}

/** Kills the process group. Returns whether there was a process in it. */
function signalGroup({ pid }: ChildProcess): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, 'SIGKILL');
  } catch {
    return false;
  }
}
