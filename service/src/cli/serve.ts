import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import { readSettings, startService } from '../index.ts';
import { UsageError } from './usage-error.ts';

const usage = `Usage: plugin-editor-service serve

Serves the plugin service until SIGINT or SIGTERM; a second signal ends it at once. Settings are variables of the
environment; these are the ones that most need:

SERVICE_PORT        where to listen, on this machine's loopback addresses (default: 8082)
DATA_DIR            where state is kept (default: .data)
EDITOR_ANCESTORS    origins whose pages may frame the editor (default: any port of this machine)`;

/**
 * Serves until the process is told to end.
 * @throws StartError when a setting cannot be used, and UsageError when an argument cannot.
 */
export async function serve(args: string[]): Promise<void> {
  if (asksForHelp(args)) {
    console.log(usage);
    return;
  }
  const settings = readSettings(process.env);
  const ended = toldToEnd();
  const service = await startService(settings);
  console.log(`The plugin service is at http://localhost:${service.port}/
State is kept in ${settings.dataDirectory}`);
  await ended;
  await service.close();
}

function asksForHelp(args: string[]): boolean {
  try {
    const { values } = parseArgs({ args, options: { help: { type: 'boolean', short: 'h' } } });
    return values.help === true;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${usage}`, { cause: error });
  }
}

/** Resolves at the first signal to end. A second one ends the process at once. */
function toldToEnd(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isEnding = false;
  const end = () => {
    isEnding = true;
    clearInterval(orphaned);
    resolve();
  };
  // npm and npx run this in a shell, and a signal sent to them ends the shell without reaching us: see that it is gone.
  const parent = process.ppid;
  const orphaned = setInterval(() => {
    if (process.env['npm_lifecycle_event'] !== undefined && process.ppid !== parent) end();
  }, 250).unref();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Not by removing the handler: the first process of a container has no other way to end by a signal.
      if (isEnding) process.exit(128 + constants.signals[signal]);
      end();
    });
  }
  return promise;
}
