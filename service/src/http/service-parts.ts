import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
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
import { isUnexpectedError } from './errors.ts';
import { RequestLimits } from './request-limits.ts';
import type { RequestRates } from './request-limits.ts';

/** The options of a service that its parts need; see `ServiceOptions`. */
interface ServicePartsOptions {
  readonly storage: Storage;
  readonly now: () => number;
  readonly rates?: RequestRates;
  readonly rateLeaseTimeout?: number;
  readonly recording?: RecordingOptions | undefined;
  readonly runLimits?: AdjustableLimits | undefined;
  readonly trustedProxies?: TrustedProxies | undefined;
  readonly log?: Log | undefined;
  readonly metrics?: Metrics | undefined;
  readonly toolProcesses?: ToolProcesses | undefined;
}

/** What compiles and runs plugins, each in processes of its own, which are started when they are needed. */
export interface ToolProcesses {
  readonly builds: Builds;
  readonly languageHelp: LanguageHelp;
  readonly schemaCompiler: SchemaCompiler;
  readonly sandbox: Sandbox;
}

/**
 * The parts of a service, most of which have processes, queues or timers to be closed. Closing the storage is left to its owner.
 */
export class ServiceParts {
  readonly languages: ReadonlyMap<string, LoadedLanguage>;
  readonly toolProcesses: ToolProcesses;
  readonly limits: RequestLimits;
  readonly eraser: Eraser;
  readonly recording: Recording;
  /** Closes what compiles and runs plugins, unless that is the caller's. */
  readonly #closeToolProcesses: () => Promise<void>;

  constructor(options: ServicePartsOptions) {
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
    this.limits = new RequestLimits(storage.tables.rateCounters, {
      now,
      ...(rates && { rates }),
      ...(rateLeaseTimeout !== undefined && { leaseTimeout: rateLeaseTimeout }),
      ...(trustedProxies && { trustedProxies }),
    });
    this.eraser = new Eraser(storage, {
      now,
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
    this.limits.close();
    const erased = this.eraser.close();
    await Promise.all([this.#closeToolProcesses(), erased]);
    // Last, so that the runs that have just ended are recorded, too.
    await this.recording.close();
  }
}

/** Makes what compiles and runs plugins. Nothing is started yet. */
export function createToolProcesses(
  languages: ReadonlyMap<string, LoadedLanguage>,
  { runLimits, metrics }: Pick<ServicePartsOptions, 'runLimits' | 'metrics'> = {},
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
