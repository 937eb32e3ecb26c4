import type { Log } from '../operations/log.ts';
import { startRecording } from '../runs/recording.ts';
import type { Recording, RecordingOptions } from '../runs/recording.ts';
import type { AdjustableLimits } from '../sandbox/run-limits.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { Eraser } from '../storage/erasing/eraser.ts';
import type { Storage } from '../storage/storage.ts';
import { Builds } from '../toolchains/build/builds.ts';
import { LanguageHelp } from '../toolchains/language-help/language-help.ts';
import { loadLanguages } from '../toolchains/languages.ts';
import type { LoadedLanguage } from '../toolchains/languages.ts';
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
import { createRateCounters } from '../storage/tables/rate-counters.ts';

export interface ServiceOptions extends AppOptions {
  /** Remains the caller's to close, after the service was closed. */
  storage: Storage;
  /** How long an editor token lives, in whole seconds (default 900). */
  editorTokenTtl?: number;
  /** The limits by the minute (default: none). */
  rates?: RequestRates;
  /** What may be held for requests at once, where it differs from `requestShares`. */
  shares?: Partial<RequestShares>;
  /** How long a request may wait for a lease of its rate before the database counts as lost, in ms (default 1000). */
  rateLeaseTimeout?: number;
  /** How many plugins a tenant may have (default: any number). */
  tenantPlugins?: number;
  /** How many bytes of drafts, versions and programs a tenant may store (default: any number). */
  tenantStorage?: number;
  /** What is recorded of runs, and for how long it is kept. */
  recording?: RecordingOptions | undefined;
  /** The clock: milliseconds since the epoch. */
  now?: () => number;
  /** The limits of a run (default: 1 s, 32 MiB). */
  runLimits?: AdjustableLimits | undefined;
  /**
   * The compilers and runners of several services in one process, which remain the caller's to close (default: the service has its
   * own). `runLimits` has no effect on them, and `metrics` counts none of their runs and builds. Only tests use this option.
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
  const { toolProcesses, languages, admission, eraser, recording } = parts;
  const context: ServiceContext = {
    storage,
    ...toolProcesses,
    recorder: recording.recorder,
    languages,
    admission,
    eraser,
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
  /** Closes what compiles and runs plugins, unless that is the caller's. */
  readonly #closeToolProcesses: () => Promise<void>;

  constructor(options: ServiceOptions & { readonly now: () => number }) {
    const { storage, now, rates, rateLeaseTimeout, trustedProxies, log, metrics } = options;
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
      onLost: (lost) => {
        metrics?.countDroppedRecords(lost.records);
        log?.warn(lost, 'Records of runs, or usage, could not be written before the service ended.');
      },
    });
    this.admission = new Admission(createRateCounters(storage.db), {
      now,
      ...(rates && { rates }),
      ...(options.shares && { shares: options.shares }),
      ...(rateLeaseTimeout !== undefined && { leaseTimeout: rateLeaseTimeout }),
      ...(trustedProxies && { trustedProxies }),
    });
    this.eraser = new Eraser(storage, {
      now,
      tenantStorage: options.tenantStorage,
      onError: (error) => {
        // That the database is unavailable is logged once, by `onAvailability` of the storage.
        if (isUnexpectedError(error)) log?.warn({ err: error }, 'What was deleted could not be erased yet.');
      },
    });
    metrics?.collect({
      waiting: () => ({
        runs: this.toolProcesses.sandbox.waiting,
        ...this.toolProcesses.builds.waiting,
        help: this.toolProcesses.languageHelp.waiting,
      }),
      connections: () => storage.connections(),
    });
  }

  /** Starts the compilers and a runner, so that the first build and run need not wait for them. */
  warmUp(): void {
    this.toolProcesses.sandbox.warmUp();
    void this.toolProcesses.builds.warmUp();
  }

  async close(): Promise<void> {
    this.admission.close();
    const erased = this.eraser.close();
    await Promise.all([this.#closeToolProcesses(), erased]);
    // Last, so that the runs that have just ended are recorded, too.
    await this.recording.close();
  }
}

/** Makes what compiles and runs plugins. Nothing is started yet. */
export function createToolProcesses(
  languages: ReadonlyMap<string, LoadedLanguage>,
  { runLimits, metrics }: Pick<ServiceOptions, 'runLimits' | 'metrics'> = {},
): ToolProcesses {
  return {
    builds: new Builds(languages, undefined, (language, outcome, times) =>
      metrics?.observeBuild(language, outcome, times),
    ),
    languageHelp: new LanguageHelp(),
    schemaCompiler: new SchemaCompiler(),
    sandbox: new Sandbox({
      ...(runLimits && { limits: runLimits }),
      onRun: ({ outcome, took, isWarm }) =>
        metrics?.observeRun('error' in outcome ? outcome.error.code : 'ok', isWarm, took),
    }),
  };
}

/** Ends the processes at once, also those that have work. */
export async function closeToolProcesses(processes: ToolProcesses): Promise<void> {
  processes.builds.close();
  processes.languageHelp.close();
  processes.schemaCompiler.close();
  await processes.sandbox.close();
}

const logSkippedLanguage = (log: Log) => (language: string, reason: unknown) =>
  log.warn({ language, err: reason }, 'A toolchain does not work here and is left out.');
