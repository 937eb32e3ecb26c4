import { errorMessage } from './error-message.ts';
import { createService } from './http/create-service.ts';
import { readEditorFiles } from './http/editor-files.ts';
import { listen } from './http/listen.ts';
import type { ListeningServer } from './http/listen.ts';
import { provisionEnvironmentToken } from './accounts/environment-token.ts';
import { createLog } from './operations/log.ts';
import type { Log } from './operations/log.ts';
import { Metrics } from './operations/metrics.ts';
import { metricsHandler } from './operations/metrics-server.ts';
import { warnOfMissingIsolation } from './processes/isolation-report.ts';
import { openStorage } from './storage/storage.ts';
import { StartError } from './start-error.ts';
import { completeSettings, knownHosts, secretsOf } from './settings/complete-settings.ts';
import type { Settings } from './settings/settings.ts';
import { toBlockList } from './settings/setting-kinds.ts';
import { mebibyte } from './units.ts';

export { readSettings } from './settings/read-settings.ts';
export type { Settings } from './settings/settings.ts';
export { StartError } from './start-error.ts';

/** How much longer than a run may wait such runs have to end when the service shuts down, in ms. */
const waitGrace = 5000;

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
   * Shuts down without failing a request, as the command does on SIGTERM: `/readyz` is 503 at once, requests are accepted for
   * `drainSeconds` more with `connection: close`, open requests have up to 30 s to end, or 5 s more than `runWaitMs` if that is
   * longer, and then everything is closed.
   */
  shutDown(): Promise<void>;
  /** Closes the service: it accepts no new request, and open requests have 2 s to end. */
  close(): Promise<void>;
}

export interface StartOptions {
  /** Called with each line of the log, which is JSON and ends with a line break (default: writes to standard output). */
  readonly writeLog?: (line: string) => void;
}

/**
 * Starts the plugin service: builder and access interfaces at the root of its origin, the execution interface under
 * `/exec`, the editor under `/editor/`.
 * @param given settings; missing ones have the defaults of their environment variables
 * @throws StartError when a setting cannot be used. Its message says what would be right.
 */
export async function startService(
  given: Partial<Settings> = {},
  options: StartOptions = {},
): Promise<RunningService> {
  const settings = completeSettings(given);
  const log = createLog(settings.logLevel, options.writeLog);
  const closers = new CloseStack();
  try {
    const { autoMigrate } = settings;
    const storage = await openStorage(settings.database, {
      autoMigrate,
      offlineRunSeconds: settings.offlineRunSeconds,
      // A database that is started together with the service may come up later.
      startTimeout: 30_000,
      onWait: (reason) => log.warn({ reason }, 'The database cannot be reached yet. It is waited for.'),
      onAvailability(reason) {
        if (reason === undefined) log.info('The database is there again.');
        else log.error({ reason }, 'The database is away.');
      },
    });
    closers.add(() => storage.close());
    const metrics = settings.metricsPort === undefined ? undefined : new Metrics();
    const hosts: string[] = [];
    let isDraining = false;
    const service = asStartError(() =>
      createService({
        ...toServiceOptions(settings),
        storage,
        hosts,
        log,
        metrics,
        isDraining: () => isDraining,
      }),
    );
    closers.add(() => service.close());
    const metricsServer = metrics && (await serveMetrics(metrics, settings));
    closers.add(() => metricsServer?.close());
    const server = await listen(service, settings.servicePort, 'SERVICE_PORT', {}, settings.serviceHost);
    closers.add(() => server.close());
    hosts.push(...knownHosts(settings, server.port));
    warnAtStart(log, storage.isSchemaReady);
    // Started now, so that the first build need not wait for its compiler.
    service.warmUp();
    return {
      port: server.port,
      metricsPort: metricsServer?.port,
      createEnvironmentToken: async (environment) => provisionEnvironmentToken(storage, environment),
      shutDown: async () => {
        isDraining = true;
        log.info({ drainSeconds: settings.drainSeconds }, 'The service ends: it is not ready any more.');
        await server.drain(settings.drainSeconds, settings.runWaitMs + waitGrace, service.cancelWaiting);
        await closers.close();
        log.info('The service has ended.');
      },
      close: () => closers.close(),
    };
  } catch (error) {
    // Why the service could not start is the error that counts.
    await closers.close().catch(() => {});
    throw error;
  }
}

/** The steps that close the service. They are called in reverse order. */
class CloseStack {
  readonly #steps: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#steps.push(close);
  }

  /** Calls all steps, whatever becomes of those before them; then throws the first error. */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (const step of this.#steps.splice(0).toReversed()) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length) throw errors[0];
  }
}

/** The options of the service that follow from its settings. */
function toServiceOptions(settings: Settings) {
  return {
    editorAssets: readEditorFiles(),
    editorTokenTtl: settings.editorTokenTtl,
    editorAncestors: settings.editorAncestors,
    editorAddressTokens: settings.editorAddressTokens,
    runLimits: { time: settings.runTimeoutMs, memory: settings.runMemoryMb * mebibyte },
    waiting: {
      time: settings.runWaitMs,
      calls: settings.runCalls,
      runs: settings.waitingRuns,
      memory: settings.waitingMb * mebibyte,
    },
    python: { runners: settings.pythonRunners, memory: settings.pythonMemoryMb * mebibyte },
    trustedProxies: toBlockList(settings.trustedProxies),
    tenantPlugins: settings.tenantPlugins,
    tenantStorage: settings.tenantStorageMb * mebibyte,
    rates: {
      tenantRuns: settings.tenantRunsPerMinute,
      environmentRuns: settings.environmentRunsPerMinute,
      tokenRequests: settings.tokenRequestsPerMinute,
      addressRequests: settings.addressRequestsPerMinute,
    },
    publicUrl: settings.publicUrl,
    outbound: {
      isOn: settings.outbound,
      allow: settings.outboundAllow,
      timeout: settings.callTimeoutMs,
      responseBytes: settings.callResponseKb * 1024,
      perMinute: settings.tenantCallsPerMinute,
    },
    secrets: secretsOf(settings),
    recording: {
      level: settings.runRecords,
      days: settings.runRetentionDays,
      count: settings.runRetention,
      bytes: settings.tenantRecordsMb * mebibyte,
    },
  };
}

const serveMetrics = (
  metrics: Metrics,
  { metricsPort = 0, metricsHost, allowedHosts }: Settings,
): Promise<ListeningServer> => {
  const handler = metricsHandler(metrics, [
    ...allowedHosts,
    ...(metricsHost === undefined ? [] : [metricsHost]),
  ]);
  return listen(handler, metricsPort, 'METRICS_PORT', {}, metricsHost);
};

/** Logs problems in spite of which the service can work. */
function warnAtStart(log: Log, isSchemaReady: boolean): void {
  warnOfMissingIsolation((line) => log.warn(line));
  if (!isSchemaReady) {
    log.warn(
      "The database's schema is older than this release, and AUTO_MIGRATE is off: run `plugin-editor-service migrate`. Until then every request is 503.",
    );
  }
}

/** Runs a step whose errors are all mistakes in the settings, and throws them as a `StartError`. */
function asStartError<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw new StartError(errorMessage(error), { cause: error });
  }
}
