import type { NodeShare } from '../node-share.ts';
import type { Log } from '../operations/log.ts';
import { OutboundCalls } from '../outbound/calls.ts';
import type { CallLimits } from '../outbound/calls.ts';
import { Guard } from '../outbound/guard.ts';
import type { GuardOptions } from '../outbound/guard.ts';
import { Identity } from '../outbound/identity.ts';
import { Secrets, SecretsUnavailableError } from '../outbound/secrets.ts';
import type { SecretsOptions } from '../outbound/secrets.ts';
import { startRecording } from '../runs/recording.ts';
import { RolloutCounter } from '../runs/rollout-counter.ts';
import type { Recording, RecordingOptions } from '../runs/recording.ts';
import { unattendedStamp, writeAudit } from '../audit/entries.ts';
import { AuditRetention } from '../audit/retention.ts';
import { HourlyEntries } from '../audit/hourly-entries.ts';
import { runError, serviceEnds } from '../sandbox/outcome.ts';
import { defaultLimits } from '../sandbox/run-limits.ts';
import type { AdjustableLimits } from '../sandbox/run-limits.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import type { SandboxOptions } from '../sandbox/sandbox.ts';
import { Eraser } from '../storage/erasing/eraser.ts';
import type { Storage } from '../storage/storage.ts';
import { Builds } from '../toolchains/build/builds.ts';
import { LanguageHelp } from '../toolchains/language-help/language-help.ts';
import { MissingPackageError } from '../toolchains/language.ts';
import { loadLanguages } from '../toolchains/languages.ts';
import type { LoadedLanguage } from '../toolchains/languages.ts';
import { LibraryChecker } from '../toolchains/libraries/library-checker.ts';
import { SchemaCompiler } from '../toolchains/schemas/schema-compiler.ts';
import type { TrustedProxies } from './client-address.ts';
import { createApp, operations } from './app.ts';
import type { AppOptions } from './app.ts';
import type { Refuse } from './client-errors.ts';
import type { ServiceContext } from './context.ts';
import { isUnexpectedError } from './errors.ts';
import { health } from './health.ts';
import { interfaces } from './interfaces.ts';
import { openApiFile } from './openapi.ts';
import { createReadinessCheck } from './readiness.ts';
import { refuseMalformed } from './refuse-malformed.ts';
import { Admission } from './admission.ts';
import type { RequestRates } from './admission.ts';
import type { RequestShares } from './shares.ts';
import { PluginHealth } from '../webhooks/plugin-health.ts';
import { WebhookSender } from '../webhooks/sender.ts';
import type { TenantKey } from '../plugins/plugin-key.ts';
import { createRateCounters } from '../storage/tables/rate-counters.ts';

export interface ServiceOptions extends AppOptions {
  /** Remains the caller's to close, after the service was closed. */
  storage: Storage;
  /** `EDITOR_TOKEN_TTL` (default 900 s). */
  editorTokenTtl?: number;
  /** The limits by the minute (default: none). */
  rates?: RequestRates;
  /** What may be held for requests at once, where it differs from `requestShares`. */
  shares?: Partial<RequestShares>;
  /** How long a request may wait for a lease of its rate before the database counts as lost, in ms (default 1000). */
  rateLeaseTimeout?: number;
  /** `TENANT_PLUGINS` (default: any number). */
  tenantPlugins?: number;
  /** `TENANT_STORAGE_MB`, in bytes (default: any number). */
  tenantStorage?: number;
  /** Which requests of plugins are made, and their limits (default: those to public addresses). */
  outbound?: Omit<GuardOptions, 'hosts'> & CallLimits;
  /** With which keys secrets are stored (default: none, so that there are no secrets). */
  secrets?: SecretsOptions;
  /** The origin that users reach the service by (default: that of the first of `hosts`). */
  publicUrl?: string | undefined;
  /** What is recorded of runs, and for how long it is kept. */
  recording?: RecordingOptions | undefined;
  /** Which of the node's processes this is (default: the only one). */
  nodeShare?: NodeShare | undefined;
  /** The clock: milliseconds since the epoch. */
  now?: () => number;
  /** The limits of a run (default: 1 s, 32 MiB). */
  runLimits?: AdjustableLimits | undefined;
  /** The limits of runs that may make calls. */
  waiting?: SandboxOptions['waiting'];
  /** How plugins in Python are run (default: in one process, with 64 MiB). */
  python?: SandboxOptions['python'];
  /**
   * The compilers and runners of several services in one process, which remain the caller's to close (default: the service has its
   * own). `runLimits` and `waiting` have no effect on them, and `metrics` counts none of their runs and builds. Only tests use this option.
   */
  toolProcesses?: ToolProcesses | undefined;
  /** Whether each response is checked by its schema, for tests: one that does not fit becomes a 500 (default false). */
  checksResponses?: boolean;
  /** Whether the service is shutting down, so that `/readyz` is 503. */
  isDraining?: () => boolean;
}

/** What compiles and runs plugins, in processes that are started when they are needed. */
export interface ToolProcesses {
  readonly builds: Builds;
  readonly languageHelp: LanguageHelp;
  readonly schemaCompiler: SchemaCompiler;
  readonly libraryChecker: LibraryChecker;
  readonly sandbox: Sandbox;
}

export interface Service {
  /** Handles one request. `env`: Node's objects of the request, by which the client's address is found. */
  fetch: (request: Request, env?: object) => Response | Promise<Response>;
  /** Makes the response to what could not be parsed as a request, for the `errorHandler` of the HTTP listener. */
  refuse: Refuse;
  /** The proxies whose `X-Forwarded-For` is believed. */
  trustedProxies: TrustedProxies | undefined;
  /** Starts the compilers and a runner in the background, so that the first build and run need not wait for them. */
  warmUp: () => void;
  /** Ends the runs that may make calls, each with an answer. */
  cancelWaiting: () => void;
  /** Ends the processes, queues and timers of the service. Unfinished runs and builds fail; the storage stays open. */
  close: () => Promise<void>;
}

/** Makes the plugin service. Throws when an option cannot be used. */
export function createService(options: ServiceOptions): Service {
  const { storage, editorTokenTtl = 900, now = Date.now, isDraining = () => false } = options;
  const { log, metrics, tenantPlugins, tenantStorage } = options;
  if (!Number.isSafeInteger(editorTokenTtl) || editorTokenTtl < 1) {
    throw new Error('EDITOR_TOKEN_TTL must be a whole number of seconds, at least 1.');
  }
  const parts = new ServiceParts({ ...options, now });
  const { toolProcesses, languages, admission, eraser, recording, rolloutCounter } = parts;
  const { guard, secrets, identity, outbound } = parts;
  const context: ServiceContext = {
    storage,
    ...toolProcesses,
    recorder: recording.recorder,
    hourlyEntries: new HourlyEntries(),
    maxLimits: {
      run: options.runLimits ?? defaultLimits,
      records: options.recording?.level ?? 'logs',
      calls: options.outbound?.perMinute ?? 0,
    },
    outbound,
    guard,
    secrets,
    identity,
    rolloutCounter,
    languages,
    admission,
    eraser,
    webhookSender: parts.webhookSender,
    pluginHealth: parts.pluginHealth,
    tenantPlugins,
    tenantStorage,
    features: interfaces.flatMap((one) => one.features ?? []),
    editorTokenTtl,
    now,
    operations: [...health.operations, ...operations],
    checksResponses: options.checksResponses ?? false,
    isDraining,
    readiness: createReadinessCheck({ storage, sandbox: toolProcesses.sandbox, isDraining }),
  };
  const app = createApp(options, context);
  return {
    fetch: (request, env) => app.fetch(request, env),
    refuse: refuseMalformed({ log, metrics }),
    trustedProxies: options.trustedProxies,
    warmUp() {
      parts.warmUp();
      setImmediate(() => openApiFile(context.operations));
    },
    cancelWaiting: () => toolProcesses.sandbox.connected.end(serviceEnds),
    close: () => parts.close(),
  };
}

/**
 * The parts of a service, most of which have processes, queues or timers to be closed. Closing the storage is left to its owner.
 */
class ServiceParts {
  readonly languages: ReadonlyMap<string, LoadedLanguage>;
  readonly toolProcesses: ToolProcesses;
  readonly admission: Admission;
  readonly eraser: Eraser;
  readonly recording: Recording;
  readonly auditRetention: AuditRetention;
  readonly secrets: Secrets;
  readonly guard: Guard;
  readonly identity: Identity;
  readonly outbound: OutboundCalls;
  readonly webhookSender: WebhookSender;
  readonly pluginHealth: PluginHealth;
  readonly rolloutCounter: RolloutCounter;
  /** Closes what compiles and runs plugins, unless that is the caller's. */
  readonly #closeToolProcesses: () => Promise<void>;
  readonly #stopListening: () => void;

  constructor(options: ServiceOptions & { readonly now: () => number }) {
    const { storage, now, rates, rateLeaseTimeout, trustedProxies, nodeShare, log, metrics } = options;
    this.languages = loadLanguages(log && logSkippedLanguage(log));
    this.toolProcesses = options.toolProcesses ?? createToolProcesses(this.languages, options);
    this.#closeToolProcesses = async () => {
      if (!options.toolProcesses) await closeToolProcesses(this.toolProcesses);
    };
    this.recording = startRecording(storage, {
      ...options.recording,
      now,
      onDropped(count, reason) {
        metrics?.countDroppedRecords(count);
        if (reason !== undefined) log?.warn({ err: reason }, 'The database has refused the record of a run.');
      },
      onFull: () => log?.warn('Records of runs are dropped, because too many wait to be written.'),
      onLost: (lost) => {
        metrics?.countDroppedRecords(lost.records);
        log?.warn(lost, 'Records of runs, or usage, could not be written before the service ended.');
      },
      onError: (error) => {
        if (isUnexpectedError(error))
          log?.warn({ err: error }, 'Old records of runs, usage or changes could not be deleted yet.');
      },
    });
    this.auditRetention = new AuditRetention({
      storage,
      now,
      onError: (error) => {
        if (isUnexpectedError(error))
          log?.warn({ err: error }, 'Old entries of the audit log could not be deleted yet.');
      },
    });
    this.auditRetention.start();
    this.rolloutCounter = new RolloutCounter(storage, {
      now,
      onError: (error) => log?.warn({ err: error }, 'Runs of rollouts could not be counted.'),
    });
    this.admission = new Admission(createRateCounters(storage.db), {
      now,
      nodeShare,
      ...(rates && { rates }),
      ...(options.shares && { shares: options.shares }),
      ...(rateLeaseTimeout !== undefined && { leaseTimeout: rateLeaseTimeout }),
      ...(trustedProxies && { trustedProxies }),
    });
    this.secrets = new Secrets({
      ...options.secrets,
      onNoDigest: (error) =>
        log?.error(
          { err: error },
          'Calls of plugins are recorded without a digest, so that they cannot be replayed.',
        ),
    });
    this.guard = new Guard({ ...options.outbound, hosts: options.hosts });
    this.identity = new Identity(storage, this.secrets, now);
    this.outbound = new OutboundCalls({
      ...options.outbound,
      storage,
      guard: this.guard,
      secrets: this.secrets,
      identity: this.identity,
      issuer: () => options.publicUrl ?? `http://${options.hosts[0] ?? 'localhost'}`,
      now,
      leaseTimeout: rateLeaseTimeout,
      nodeShare,
      onCall: (outcome) => metrics?.countCall(outcome),
      onError: (error) => log?.error({ err: error }, 'A request of a plugin could not be made.'),
    });
    this.eraser = new Eraser(storage, {
      now,
      tenantStorage: options.tenantStorage,
      onError: (error) => {
        // That the database is unavailable is logged once, by `onAvailability` of the storage.
        if (isUnexpectedError(error)) log?.warn({ err: error }, 'What was deleted could not be erased yet.');
      },
    });
    this.webhookSender = new WebhookSender({
      storage,
      guard: this.guard,
      secrets: this.secrets,
      now,
      nodeShare,
      onDisable: (db, { id, environment }, reason) =>
        writeAudit(db, {
          action: 'webhook.changed',
          target: { environment },
          details: { id, enabled: false, reason },
          ...unattendedStamp('service', now()),
        }),
      onError: (error) => {
        // No request fails for a key that is not there, so that only the log says it.
        if (isUnexpectedError(error) || error instanceof SecretsUnavailableError)
          log?.warn({ err: error }, 'A webhook could not be sent to.');
      },
    });
    this.pluginHealth = new PluginHealth({
      storage,
      now,
      onEvent: () => this.webhookSender.wake(),
      onError: (error) => {
        if (isUnexpectedError(error)) log?.warn({ err: error }, 'Runs could not be counted for webhooks.');
      },
    });
    this.#stopListening = storage.runs.onTenantsChange(
      (isAffected) => void this.#endRunsOf(storage, isAffected),
    );
    metrics?.collect({
      waiting: () => ({
        runs: this.toolProcesses.sandbox.waiting,
        ...this.toolProcesses.builds.waiting,
        help: this.toolProcesses.languageHelp.waiting,
        calls: this.toolProcesses.sandbox.connected.waiting,
      }),
      connections: () => storage.connections(),
    });
  }

  /** Starts the compilers and a runner, so that the first build and run need not wait for them. */
  warmUp(): void {
    this.toolProcesses.sandbox.warmUp();
    void this.toolProcesses.builds.warmUp();
  }

  /** Ends the runs that may wait, of tenants that were suspended or deleted. */
  async #endRunsOf(storage: Storage, isAffected: (tenant: TenantKey) => boolean): Promise<void> {
    const { connected } = this.toolProcesses.sandbox;
    for (const key of connected.tenants().filter(isAffected)) {
      // Where the database is away, the next change that is known ends them.
      const tenant = await storage.runs.tenant(key).catch(() => 'unknown' as const);
      if (tenant === 'unknown' || (tenant && !tenant.isSuspended)) continue;
      const error = tenant
        ? runError('tenant-suspended', 'The tenant was suspended.')
        : runError('tenant-deleted', 'The tenant was deleted.');
      connected.end(error, (owner) => isSameTenant(owner, key));
    }
  }

  async close(): Promise<void> {
    this.#stopListening();
    this.admission.close();
    this.outbound.close();
    const erased = this.eraser.close();
    const { auditRetention, webhookSender } = this;
    await Promise.all([this.#closeToolProcesses(), erased, auditRetention.close(), webhookSender.close()]);
    await this.guard.close();
    await this.pluginHealth.close();
    // Last, so that the runs that have just ended are recorded, too.
    await this.rolloutCounter.close();
    await this.recording.close();
  }
}

const isSameTenant = (one: TenantKey, other: TenantKey) =>
  one.environment === other.environment && one.tenant === other.tenant;

/** Makes what compiles and runs plugins. Nothing is started yet. */
export function createToolProcesses(
  languages: ReadonlyMap<string, LoadedLanguage>,
  {
    runLimits,
    waiting,
    python,
    nodeShare,
    metrics,
    log,
  }: Pick<ServiceOptions, 'runLimits' | 'waiting' | 'python' | 'nodeShare' | 'metrics' | 'log'> = {},
): ToolProcesses {
  return {
    builds: new Builds(
      languages,
      undefined,
      (language, outcome, times) => metrics?.observeBuild(language, outcome, times),
      nodeShare,
      (language, defect, { environment, tenant }) =>
        log?.error({ language, environment, tenant, defect }, 'A compiler failed.'),
    ),
    languageHelp: new LanguageHelp(undefined, nodeShare),
    schemaCompiler: new SchemaCompiler(),
    libraryChecker: new LibraryChecker(),
    sandbox: new Sandbox({
      ...(runLimits && { limits: runLimits }),
      ...(waiting && { waiting }),
      ...(python && { python }),
      nodeShare,
      onRun({ outcome, took, isWarm }, { environment, tenant }) {
        const error = 'error' in outcome ? outcome.error : undefined;
        metrics?.observeRun(error?.code ?? 'ok', isWarm, took);
        if (error?.code === 'runner-crashed')
          log?.warn(
            { environment, tenant, reason: error.message },
            'A process that runs plugins has crashed.',
          );
      },
      onError: (error) => log?.error({ err: error }, 'A run that waited could not go on.'),
    }),
  };
}

/** Ends the processes at once, also those that have work. */
export async function closeToolProcesses(processes: ToolProcesses): Promise<void> {
  processes.builds.close();
  processes.languageHelp.close();
  processes.schemaCompiler.close();
  processes.libraryChecker.close();
  await processes.sandbox.close();
}

const logSkippedLanguage = (log: Log) => (language: string, reason: unknown) => {
  // `check` says how to get it.
  if (reason instanceof MissingPackageError) return;
  log.warn({ language, err: reason }, 'A toolchain does not work here and is left out.');
};
