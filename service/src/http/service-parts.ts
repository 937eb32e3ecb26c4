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
}

/** The parts of a service, most of which have processes, queues or timers to be closed. The storage remains its owner's. */
export class ServiceParts {
  readonly languages: ReadonlyMap<string, LoadedLanguage>;
  readonly builds: Builds;
  readonly languageHelp = new LanguageHelp();
  readonly schemaCompiler = new SchemaCompiler();
  readonly sandbox: Sandbox;
  readonly limits: RequestLimits;
  readonly eraser: Eraser;
  readonly recording: Recording;

  constructor(options: ServicePartsOptions) {
    const { storage, now, rates, rateLeaseTimeout, runLimits, trustedProxies, log, metrics } = options;
    this.languages = loadLanguages(log && logSkippedLanguage(log));
    this.builds = new Builds(this.languages, undefined, (language, outcome, times) =>
      metrics?.observeBuild(language, outcome, times),
    );
    this.sandbox = new Sandbox({
      ...(runLimits && { limits: runLimits }),
      onRun: ({ outcome, took, isWarm }) =>
        metrics?.observeRun('error' in outcome ? outcome.error.code : 'ok', isWarm, took),
    });
    this.recording = startRecording(storage, {
      ...options.recording,
      now,
      onDropped(count, reason) {
        metrics?.countDroppedRecords(count);
        if (reason !== undefined) log?.warn({ err: reason }, 'The database has refused the record of a run.');
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
        // An error that says that the database is away is logged elsewhere.
        if (isUnexpectedError(error)) log?.warn({ err: error }, 'What was deleted could not be erased yet.');
      },
    });
    metrics?.collect({
      waiting: () => ({
        runs: this.sandbox.waiting,
        ...this.builds.waiting,
        help: this.languageHelp.waiting,
      }),
      connections: () => storage.connections(),
    });
  }

  /** Starts the compilers and a runner, so that the first build and run need not wait for them. */
  warmUp(): void {
    this.sandbox.warmUp();
    this.builds.warmUp();
  }

  async close(): Promise<void> {
    this.limits.close();
    const erased = this.eraser.close();
    this.builds.close();
    this.languageHelp.close();
    this.schemaCompiler.close();
    await Promise.all([this.sandbox.close(), erased]);
    // Last, so that the runs that have just ended are recorded, too.
    await this.recording.close();
  }
}

const logSkippedLanguage = (log: Log) => (language: string, reason: unknown) =>
  log.warn({ language, err: reason }, 'A toolchain does not work here and is left out.');
