import { constants } from 'node:os';
import { NodeProcesses } from '../cluster/node-processes.ts';
import { readSettings, startService } from '../index.ts';
import { createLog } from '../operations/log.ts';
import { processCountOf } from '../settings/node-processes.ts';
import { readOptions } from './options.ts';

const usage = `Usage: plugin-editor-service serve

Serves the plugin service until it is told to end: by SIGTERM it goes on for DRAIN_SECONDS and fails no request, by SIGINT
(Ctrl-C) it ends as soon as it can; a second signal ends it at once. It logs JSON lines to standard output. Settings are
variables of the environment; these are the ones that most need:

SERVICE_HOST        where to listen (default: this machine's loopback addresses)
SERVICE_PORT        the port (default: 8082)
PUBLIC_URL          the origin that users reach it by, such as https://plugins.example.com
DATA_DIR            where state is kept (default: .data)
DATABASE_URL        the database (default: the SQLite file service.sqlite in DATA_DIR)
EDITOR_ANCESTORS    origins whose pages may frame the editor (default: any port of this machine, none with PUBLIC_URL)`;

/** How long the process may go on after everything was closed, in ms. */
const lingerTime = 2000;

/**
 * Serves until the process is told to end.
 * @throws StartError when a setting cannot be used, and UsageError when an argument cannot.
 */
export async function serve(args: string[]): Promise<void> {
  if (readOptions(args, usage, {}).help) {
    console.log(usage);
    return;
  }
  const settings = readSettings(process.env);
  const log = createLog(settings.logLevel);
  const ended = waitForEndSignal();
  const count = processCountOf(settings);
  let mayHaveRequests = false;
  const beforeListening = () => {
    mayHaveRequests = true;
  };
  const starting =
    count > 1
      ? NodeProcesses.start(settings, count, log, beforeListening)
      : startService(settings, { beforeListening });
  await Promise.race([starting, ended]);
  // Else it has started, or listens and is about to have.
  if (!mayHaveRequests) {
    log.info('The service ends before it has started.');
    // Nothing is lost by exiting: no request was handled yet, and an unfinished migration is a transaction.
    process.exit();
  }
  const service = await starting;
  const { publicUrl, database } = settings;
  const { port, metricsPort } = service;
  const state = database.engine === 'sqlite' ? database.file : database.shown;
  log.info(
    { port, metricsPort, state, ...(count > 1 && { processes: count }) },
    `The plugin service is at ${publicUrl ?? `http://localhost:${port}`}/`,
  );
  const failed = service instanceof NodeProcesses ? [service.failed] : [];
  if ((await Promise.race([ended, ...failed])) === 'SIGTERM') await service.shutDown();
  else await service.close();
  setTimeout(() => process.exit(), lingerTime).unref();
}

/** Resolves at the first signal to end, or when the shell of npm has ended. A second signal ends the process at once. */
function waitForEndSignal(): Promise<'SIGTERM' | 'SIGINT' | 'orphaned'> {
  const { promise, resolve } = Promise.withResolvers<'SIGTERM' | 'SIGINT' | 'orphaned'>();
  let isEnding = false;
  const end = (reason: 'SIGTERM' | 'SIGINT' | 'orphaned') => {
    isEnding = true;
    clearInterval(orphaned);
    resolve(reason);
  };
  // npm and npx run this in a shell. A signal to them ends the shell without reaching this process, so its parent is watched.
  const parent = process.ppid;
  const orphaned = setInterval(() => {
    if (process.env['npm_lifecycle_event'] !== undefined && process.ppid !== parent) end('orphaned');
  }, 250).unref();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Exits by itself instead of removing the handler: the first process of a container ignores signals without one.
      if (isEnding) process.exit(128 + constants.signals[signal]);
      end(signal);
    });
  }
  return promise;
}
