import { spawn } from 'node:child_process';
import type { ChildProcess, IOType } from 'node:child_process';
import type { Stream } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { moduleUrl } from './module-url.ts';
import { packageDescription } from './package-folders.ts';
import { confinedCommandLine, nodeReservation } from './system-isolation.ts';
import type { Confinement } from './system-isolation.ts';
import { systemTools } from './system-tools.ts';
import type { SystemTools } from './system-tools.ts';

/** A descriptor that a process is handed: a new pipe, nothing, or the open end of another process's pipe. */
export type Descriptor = Extract<IOType, 'pipe' | 'ignore'> | Stream;

interface ProcessOptions {
  /** In bytes. On Linux the system refuses more private memory than this; on other systems watch the process. */
  readonly memoryLimit: number;
  /** Standard input, output and errors, and further descriptors from 3 on. */
  readonly stdio: readonly Descriptor[];
  /** What the system offers; found out by itself. */
  readonly tools?: SystemTools;
}

export interface IsolatedOptions extends ProcessOptions {
  /** A module of this service, as a URL. It is loaded after `lockdown.ts`. */
  readonly file: URL;
  readonly args?: readonly string[];
  /** Files and folders that it may read: its own code. */
  readonly readable: readonly string[];
  /** What it may do beyond reading these: load native add-ons. */
  readonly needs?: readonly 'addons'[];
  /** Options of Node beyond those that isolate the process, such as V8's. */
  readonly nodeOptions?: readonly string[];
  /** Node's limit of the JavaScript heap, in MiB (default: 3/4 of `memoryLimit`). */
  readonly heapLimit?: number;
}

export interface NativeOptions extends ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Files and folders that it may see: its own. Where bubblewrap works, it sees nothing else but the system's programs. */
  readonly visible: readonly string[];
}

/** A process of the service's own making, in a process group of its own. */
export interface IsolatedProcess {
  readonly child: ChildProcess;
  /** Ends the process and whatever it started, at once and without asking it (SIGKILL). */
  readonly kill: () => void;
}

const lockdown = moduleUrl('./lockdown', import.meta.url);
const replacedModules = moduleUrl('./replaced-modules', import.meta.url);

/** What every process reads: what locks it down, and what says of which kind the modules are. */
const alwaysReadable = [fileURLToPath(lockdown), fileURLToPath(replacedModules), packageDescription];

/**
 * Runs a module of the service in a process that has no variables, reads only what is named, writes no file, starts
 * nothing and reaches no network from JavaScript. Where the system permits it, it has no network and no privileges at all.
 * It ends when the service does, however that ends. Its end, also one for want of memory, is the child's `exit` event.
 */
export function startIsolated(options: IsolatedOptions): IsolatedProcess {
  const { file, args = [], readable, needs = [], nodeOptions = [], memoryLimit } = options;
  const { heapLimit = Math.ceil((memoryLimit / 2 ** 20) * 0.75) } = options;
  const reserved = nodeReservation();
  const nodeArgs = [
    '--permission',
    ...[...new Set([...alwaysReadable, ...readable])].map((path) => `--allow-fs-read=${path}`),
    ...needs.map((need) => `--allow-${need}`),
    `--max-old-space-size=${heapLimit}`,
    // Else a signal opens a port to debug it by.
    '--disable-sigusr1',
    '--no-warnings',
    ...nodeOptions,
    `--import=${lockdown.href}`,
    fileURLToPath(file),
    ...args,
  ];
  const dataLimit = reserved === undefined ? undefined : reserved + memoryLimit;
  return start(options, { command: process.execPath, args: nodeArgs, dataLimit });
}

/**
 * Runs a native program with the limits of {@link startIsolated} that the system keeps: it knows no permission model. The
 * child may be a process that waits for the program, which then is that one's only child.
 */
export function startNative(options: NativeOptions): IsolatedProcess {
  const { command, args, visible, memoryLimit } = options;
  const dataLimit = process.platform === 'linux' ? memoryLimit : undefined;
  return start(options, { command, args, dataLimit, visible });
}

function start({ stdio, tools = systemTools() }: ProcessOptions, confinement: Confinement): IsolatedProcess {
  const line = confinedCommandLine(confinement, stdio.length, tools);
  const child = spawn(line.command, line.args, {
    env: {},
    stdio: [...stdio, ...(line.watchesPipe ? (['pipe'] as const) : [])],
    // A process group of its own, so that it can be ended with all that it started.
    detached: true,
    windowsHide: true,
  });
  // Held open as long as the service lives, and no reason for it to live on.
  const watched = line.watchesPipe ? child.stdio[stdio.length] : undefined;
  if (watched && 'unref' in watched) (watched as { unref(): void }).unref();
  watched?.on('error', () => {});
  child.once('exit', () => {
    watched?.destroy();
    // What native code may have started goes on without its parent. The group keeps its id while one of them lives.
    signalGroup(child);
  });
  return { child, kill: () => killGroup(child) };
}

function killGroup(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (!signalGroup(child)) child.kill('SIGKILL');
}

/** Whether there was a process in the group to be killed. */
function signalGroup({ pid }: ChildProcess): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, 'SIGKILL');
  } catch {
    return false;
  }
}
