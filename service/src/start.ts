import { errorMessage } from './error-message.ts';
import { httpLimits } from './http/admission.ts';
import type { ConnectionBalance } from './http/connection-balance.ts';
import { createService } from './http/create-service.ts';
import { readEditorFiles } from './http/editor-files.ts';
import { listen } from './http/listen.ts';
import type { ListeningServer } from './http/listen.ts';
import { divisorOf, wholeNode } from './node-share.ts';
import type { NodeShare } from './node-share.ts';
import { createLog } from './operations/log.ts';
import type { Log } from './operations/log.ts';
import { Metrics } from './operations/metrics.ts';
import { metricsHandler } from './operations/metrics-server.ts';
import type { MetricsSource } from './operations/metrics-server.ts';
import { warnOfMissingIsolation } from './processes/isolation-report.ts';
import { postgresLimits } from './storage/postgres/limits.ts';
import { openStorage } from './storage/storage.ts';
import type { Siblings, Storage } from './storage/storage.ts';
import { StartError } from './start-error.ts';
import { knownHosts, secretsOf } from './settings/complete-settings.ts';
import type { Settings } from './settings/settings.ts';
import { toBlockList } from './settings/setting-kinds.ts';
import { mebibyte } from './units.ts';

/** How much longer than a run may wait such runs have to end when the service shuts down, in ms. */
const waitGrace = 5000;

/** What a process of the service answers requests with, from its start to its end. */
export interface StartedService {
  readonly log: Log;
  readonly storage: Storage;
  readonly port: number;
  /** The metrics of this process; `undefined` without the setting `metricsPort`. */
  readonly metrics: Metrics | undefined;
  /** Where the port is shared by the processes of a node. */
  readonly balance: ConnectionBalance | undefined;
  /** Ends without failing a request; see `RunningService`. */
  readonly drain: () => Promise<void>;
  /** Accepts no new request; open ones have 2 s to end. */
  readonly close: () => Promise<void>;
}

export interface StartingOptions {
  /** Called with each line of the log (default: writes to standard output). */
  readonly writeLog?: ((line: string) => void) | undefined;
  /** Called before the service listens, which waits for it. From then on there may be requests. */
  readonly beforeListening?: (() => void | Promise<void>) | undefined;
  /** Where this is one of several processes of a node. */
  readonly inNode?: {
    readonly share: NodeShare;
    /** The port of the node, which is free for its processes. */
    readonly port: number;
    readonly siblings: Siblings;
    /** Whether to say in the log what is missing, which one process says for all. */
    readonly warns: boolean;
  };
}

/** Starts to answer requests in this process. Throws a `StartError` when a setting cannot be used. */
export async function start(
  settings: Settings,
  { writeLog, beforeListening, inNode }: StartingOptions = {},
): Promise<StartedService> {
  const log = createLog(settings.logLevel, writeLog);
  const { share = wholeNode, port = settings.servicePort } = inNode ?? {};
  const closers = new CloseStack();
  try {
    const { autoMigrate, offlineRunSeconds } = settings;
    const storage = await openStorage(settings.database, {
      autoMigrate,
      offlineRunSeconds,
      postgresLimits: postgresLimitsOf(share),
      siblings: inNode?.siblings,
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
        nodeShare: share,
        isDraining: () => isDraining,
      }),
    );
    closers.add(() => service.close());
    await beforeListening?.();
    const server = await listen(service, port, 'SERVICE_PORT', {
      host: settings.serviceHost,
      limits: { maxConnections: Math.ceil(httpLimits.maxConnections / divisorOf(share)) },
      isShared: inNode !== undefined,
    });
    closers.add(() => server.close());
    hosts.push(...knownHosts(settings, server.port));
    if (inNode?.warns ?? true) await warnAtStart(log, storage);
    // Started now, so that the first build need not wait for its compiler.
    service.warmUp();
    return {
      log,
      storage,
      port: server.port,
      metrics,
      balance: server.balance,
      drain: async () => {
        isDraining = true;
        await server.drain(settings.drainSeconds, settings.runWaitMs + waitGrace, service.cancelWaiting);
        await closers.close();
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

/** How long a drain takes at the most, in ms. */
export const longestDrain = ({ drainSeconds, runWaitMs }: Settings): number =>
  drainSeconds * 1000 + Math.max(35_000, runWaitMs + 10_000);

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
    python: { runners: settings.pythonRunners ?? 1, memory: settings.pythonMemoryMb * mebibyte },
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

/** Serves metrics on the port of the settings; resolves with `undefined` where they name none. */
export async function serveMetrics(
  metrics: MetricsSource | undefined,
  { metricsPort, metricsHost, allowedHosts }: Settings,
): Promise<ListeningServer | undefined> {
  if (!metrics || metricsPort === undefined) return undefined;
  const hosts = metricsHost === undefined ? allowedHosts : [...allowedHosts, metricsHost];
  return listen(metricsHandler(metrics, hosts), metricsPort, 'METRICS_PORT', { host: metricsHost });
}

/** How many connections to the database a process has at the least where a node has several. */
const leastConnections = 4;

const postgresLimitsOf = ({ count }: NodeShare) => ({
  connections:
    count > 1
      ? Math.max(leastConnections, Math.ceil(postgresLimits.connections / count))
      : postgresLimits.connections,
});

/** Logs problems in spite of which the service can work. */
async function warnAtStart(log: Log, storage: Storage): Promise<void> {
  warnOfMissingIsolation((line) => log.warn(line));
  const clockProblem = await storage.describeClockDifference();
  if (clockProblem !== undefined) log.warn(`Clocks differ: ${clockProblem}.`);
  if (!storage.isSchemaReady) {
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
