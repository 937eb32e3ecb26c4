import { isRoot, systemTools } from './system-tools.ts';
import type { SystemTools } from './system-tools.ts';

/** One layer of the isolation of runners and compilers, and whether it works on this machine. */
export interface IsolationLayer {
  readonly name:
    | 'user'
    | 'privileges'
    | 'network'
    | 'memory'
    | 'processes'
    | 'writes'
    | 'lifetime'
    | 'neighbours'
    | 'files';
  readonly holds: boolean;
  /** What the layer does, or what is missing and what would provide it: one sentence without a full stop. */
  readonly detail: string;
}

/**
 * Reports which layers of isolation work on this machine. They were tried with the privileges of this process.
 * @param tools the means of isolation (default: those that {@link systemTools} has found)
 */
export function isolationReport(tools: SystemTools = systemTools()): readonly IsolationLayer[] {
  return [
    userLayer(tools),
    privilegesLayer(tools),
    networkLayer(tools),
    memoryLayer(tools),
    processesLayer(tools),
    writesLayer(tools),
    lifetimeLayer(tools),
    neighboursLayer(tools),
    filesLayer(tools),
  ];
}

/**
 * Warns of each layer that does not work on this machine.
 * @param warn called with one line for each, without a line break
 */
export function warnOfMissingIsolation(warn: (line: string) => void, report = isolationReport()): void {
  for (const { name, holds, detail } of report) {
    if (!holds) warn(`Isolation of runners and compilers, ${name}: ${detail}.`);
  }
}

function userLayer({ users, userProblem }: SystemTools): IsolationLayer {
  const name = 'user';
  if (users) {
    const last = users.first + users.count - 1;
    return { name, holds: true, detail: `each runs as another user, from ${users.first} to ${last}` };
  }
  if (!isRoot()) return { name, holds: true, detail: "they run as the service's user, which is not root" };
  const reason = userProblem ?? 'setpriv of util-linux is missing';
  return {
    name,
    holds: false,
    detail: `they run as root: ${reason}; or start the service as a user that is not root`,
  };
}

const privilegesLayer = ({ isUnprivileged }: SystemTools): IsolationLayer => ({
  name: 'privileges',
  holds: isUnprivileged,
  detail: isUnprivileged
    ? 'they have no capabilities and can gain none'
    : `what privileges the service has or may gain, they may have or gain too; ${needsLinux('setpriv')}`,
});

const networkLayer = ({ namespaces }: SystemTools): IsolationLayer => ({
  name: 'network',
  holds: namespaces !== 'none',
  detail:
    namespaces === 'none'
      ? `native code in them can reach the network; ${needsLinux('unshare')}, and a system that permits user namespaces`
      : 'each has a separate network without a connection',
});

const memoryLayer = ({ limitsMemory }: SystemTools): IsolationLayer => ({
  name: 'memory',
  holds: limitsMemory,
  detail: limitsMemory
    ? 'the system refuses them memory past their limit'
    : 'the system does not bound their memory: that takes Linux, with a kernel that keeps to RLIMIT_DATA',
});

function processesLayer({ limitsProcesses }: SystemTools): IsolationLayer {
  const name = 'processes';
  if (!limitsProcesses) {
    const missing = `native code in them may start any number of processes; ${needsLinux('prlimit')}, and a user other than root`;
    return {
      name,
      holds: false,
      detail: `${missing} with user namespaces, or a limit for the whole service such as TasksMax of systemd`,
    };
  }
  return { name, holds: true, detail: 'each can start a bounded number of processes and threads' };
}

const writesLayer = ({ limitsWrites }: SystemTools): IsolationLayer => ({
  name: 'writes',
  holds: limitsWrites,
  detail: limitsWrites
    ? 'they write to no file, leave no core file, and open at most 256 files'
    : 'the system does not keep them from writing to files: that takes a POSIX shell whose "ulimit -f" holds',
});

function lifetimeLayer({ shell, privileges }: SystemTools): IsolationLayer {
  const name = 'lifetime';
  if (shell === undefined) {
    return {
      name,
      holds: false,
      detail: 'they may outlive a service that is killed: that takes a POSIX shell',
    };
  }
  const by = privileges && process.platform === 'linux' ? 'the kernel' : 'a shell beside each';
  return { name, holds: true, detail: `${by} ends them with the service, also when that is killed` };
}

function neighboursLayer({ separation, users, privateFolders, openFolders }: SystemTools): IsolationLayer {
  const name = 'neighbours';
  if (separation === 'bubblewrap') {
    return { name, holds: true, detail: 'each sees no process, socket or temporary file but its own' };
  }
  const means = `${needsLinux('bubblewrap')}, and a system that permits user namespaces`;
  if (separation === 'own') {
    const seen = 'each sees no process but its own';
    if (!openFolders.length)
      return { name, holds: true, detail: `${seen}, and empty folders for ${privateFolders.join(', ')}` };
    const detail = `${seen}, but can reach sockets and leave empty files in ${openFolders.join(', ')}, where the service's code is; install it elsewhere, such as in /opt`;
    return { name, holds: false, detail };
  }
  const remains = 'see command lines, reach sockets by path and leave empty files where every user may';
  return {
    name,
    holds: false,
    detail: users
      ? `each has its own user, so that none can end another, but native code in them could ${remains}; ${means}`
      : `native code in them could end other processes of its user, ${remains}; ${means}`,
  };
}

const filesLayer = ({ separation, users }: SystemTools): IsolationLayer => ({
  name: 'files',
  holds: separation === 'bubblewrap',
  detail:
    separation === 'bubblewrap'
      ? "each sees its own code and the system's programs, nothing else"
      : `native code in them could read what ${
          users === undefined ? "the service's user" : 'every user of the machine'
        } can read; ${needsLinux('bubblewrap')}, and a system that permits user namespaces`,
});

/** What separates the processes from one another, for people: the strongest of the means that work. */
export function describeSeparation(): string {
  const { separation, users } = systemTools();
  if (separation === 'bubblewrap') return 'by bubblewrap';
  if (separation === 'own') return "by the service's own namespaces, without bubblewrap";
  return users ? 'by a user for each process, without bubblewrap' : 'by no separation from one another';
}

const packages = {
  setpriv: 'util-linux',
  unshare: 'util-linux',
  prlimit: 'util-linux',
  bubblewrap: undefined,
};

function needsLinux(tool: keyof typeof packages): string {
  const from = packages[tool];
  return `that takes Linux with ${tool}${from ? ` of ${from}` : ''}`;
}
