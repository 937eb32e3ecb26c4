import { provisionEnvironmentToken } from './accounts/environment-token.ts';
import { completeSettings } from './settings/complete-settings.ts';
import type { Settings } from './settings/settings.ts';
import { serveMetrics, start } from './start.ts';

export { readSettings } from './settings/read-settings.ts';
export type { Settings } from './settings/settings.ts';
export { StartError } from './start-error.ts';

/** A plugin service that is running. */
export interface RunningService {
  /** The port that it listens on, at this machine's loopback addresses or at `serviceHost`. */
  readonly port: number;
  /** The port that metrics are served on; `undefined` without the setting `metricsPort`. */
  readonly metricsPort: number | undefined;
  /**
   * Makes a token for an environment, which is added if it does not exist. Its holder is `demo`. The token replaces that of an
   * earlier call; tokens of other holders, such as the environment's owner, stay valid.
   */
  createEnvironmentToken(environment: string): Promise<string>;
  /**
   * Shuts down without failing a request, as the command does on SIGTERM. `/readyz` is 503 at once, and requests are accepted for
   * `drainSeconds` more, with `connection: close`. Then open requests have up to 30 s to end, or 5 s more than `runWaitMs` if that
   * is longer. After that everything is closed.
   */
  shutDown(): Promise<void>;
  /** Closes the service: it accepts no new request, and open requests have 2 s to end. */
  close(): Promise<void>;
}

export interface StartOptions {
  /** Called with each line of the log, which is JSON and ends with a line break (default: writes to standard output). */
  readonly writeLog?: (line: string) => void;
  /** Called just before the service listens. From then on it may have requests, which only `shutDown` does not fail. */
  readonly beforeListening?: () => void;
}

/**
 * Starts the plugin service in this process: builder and access interfaces at the root of its origin, the execution interface under
 * `/exec`, the editor under `/editor/`.
 * @param given settings; missing ones have the defaults of their environment variables
 * @throws StartError when a setting cannot be used. Its message says what would be right.
 */
export async function startService(
  given: Partial<Settings> = {},
  { writeLog, beforeListening }: StartOptions = {},
): Promise<RunningService> {
  const settings = completeSettings(given);
  const { log, storage, port, metrics, drain, close } = await start(settings, { writeLog, beforeListening });
  let metricsServer: Awaited<ReturnType<typeof serveMetrics>>;
  try {
    metricsServer = await serveMetrics(metrics, settings);
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
  return {
    port,
    metricsPort: metricsServer?.port,
    createEnvironmentToken: (environment) => provisionEnvironmentToken(storage, environment),
    shutDown: async () => {
      log.info({ drainSeconds: settings.drainSeconds }, 'The service ends: it is not ready any more.');
      await drain();
      await metricsServer?.close();
      log.info('The service has ended.');
    },
    close: async () => {
      await close();
      await metricsServer?.close();
    },
  };
}
