import { Hono } from 'hono';
import type { Context } from 'hono';
import { Builds } from '../toolchains/build/builds.ts';
import { boundBodies } from './body-budget.ts';
import type { Refuse } from './client-errors.ts';
import { operationCors } from './cors.ts';
import type { ServiceContext } from './context.ts';
import { editorPage } from './editor-page.ts';
import type { EditorAssets } from './editor-page.ts';
import { errorResponse, isFault, notFound, ServiceError } from './errors.ts';
import { health } from './health.ts';
import { interfaces } from './interfaces.ts';
import { addOperations } from './operations/mount.ts';
import { observeRequests } from './observe-requests.ts';
import { refuseMalformed } from './refuse-malformed.ts';
import { requestInfo } from './request-info.ts';
import { LanguageHelp } from '../toolchains/language-help/language-help.ts';
import { SchemaCompiler } from '../toolchains/schemas/schema-compiler.ts';
import { loadLanguages } from '../toolchains/languages.ts';
import { Eraser } from '../storage/erasing/eraser.ts';
import { RequestLimits } from './request-limits.ts';
import type { RequestRates } from './request-limits.ts';
import { readinessOf } from './readiness.ts';
import type { TrustedProxies } from './client-address.ts';
import { checkHost, checkPath, encodedPath } from './routes.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import { recordRuns } from '../runs/record-runs.ts';
import type { RecordingOptions } from '../runs/record-runs.ts';
import type { AdjustableLimits } from '../sandbox/outcome.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import type { Storage } from '../storage/storage.ts';
import { limitStrays } from './stray-requests.ts';

export interface ServiceOptions {
  /** Stays the caller's: to be closed after the service. */
  storage: Storage;
  /** The editor's files by their path under `/editor/`. Read at every request. */
  editorAssets: EditorAssets;
  /** The `Host` values to answer to, such as `localhost:8082`. Read at every request. */
  hosts: readonly string[];
  /** How long an editor token lives, in whole seconds (default 900). */
  editorTokenTtl?: number;
  /**
   * The only origins whose pages may frame the editor, such as `https://app.example.com` (default: any port of this
   * machine). Read at every request.
   */
  editorAncestors?: readonly string[] | undefined;
  /** Whether the editor takes a token from its address (default true). */
  editorAddressTokens?: boolean;
  /** How much may be asked for in a minute (default: no limits). */
  rates?: RequestRates;
  /** How long a request may wait for this node's share of a rate before the database counts as lost, in ms (default 1000). */
  rateLeaseTimeout?: number;
  /** How many plugins a tenant may have (default: any number). */
  tenantPlugins?: number;
  /** What is recorded of runs, and for how long it is kept. */
  recording?: RecordingOptions | undefined;
  /** The clock: milliseconds since the epoch. */
  now?: () => number;
  /** The limits of a run (default: 1 s, 32 MiB). */
  runLimits?: AdjustableLimits | undefined;
  /** The proxies whose word on who the client is counts (default: none). */
  trustedProxies?: TrustedProxies | undefined;
  /** Gets a line for every request, and every fault (default: requests are not logged, and faults are printed). */
  log?: Log | undefined;
  /** Counts requests, runs and builds. */
  metrics?: Metrics | undefined;
  /** Whether the service was told to end, so that it is not ready any more. */
  isDraining?: () => boolean;
  /** Told of every fault that was answered with 500 or broke an answer off (default: logged). The path comes without its query. */
  onError?: (error: unknown, request: FailedRequest) => void;
}

/** A request that was answered with 500, or whose answer was broken off. */
export interface FailedRequest {
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

export interface Service {
  /** Answers one request; `env` is what the HTTP server adds to it. */
  fetch: (request: Request, env?: object) => Response | Promise<Response>;
  /** The answer to what never became a request, such as a malformed `Host`: the HTTP listener's `errorHandler`. */
  refuse: Refuse;
  /** Starts the toolchains and the sandbox in the background, so that nobody waits for it later. */
  warmUp: () => void;
  /** Ends what the service runs. */
  close: () => Promise<void>;
}

/** Makes the plugin service. Throws when an option cannot be used. */
export function createService(options: ServiceOptions): Service {
  const { storage, editorAssets, hosts, editorTokenTtl = 900, now = Date.now } = options;
  const { editorAncestors, editorAddressTokens, log, metrics, trustedProxies, runLimits } = options;
  const { isDraining = () => false, onError = log ? logError(log) : printError } = options;
  if (!Number.isSafeInteger(editorTokenTtl) || editorTokenTtl < 1) {
    throw new Error('EDITOR_TOKEN_TTL must be a whole number of seconds, at least 1.');
  }
  const operations = interfaces.flatMap((one) => one.operations);
  const features = interfaces.flatMap((one) => one.features ?? []);
  const languages = loadLanguages(log && logSkippedLanguage(log));
  const builds = new Builds(languages, undefined, (language, outcome, times) =>
    metrics?.observeBuild(language, outcome, times),
  );
  const languageHelp = new LanguageHelp();
  const schemaCompiler = new SchemaCompiler();
  const sandbox = new Sandbox({
    ...(runLimits && { limits: runLimits }),
    onRun: ({ outcome, took, isWarm }) =>
      metrics?.observeRun('error' in outcome ? outcome.error.code : 'ok', isWarm, took),
  });
  metrics?.collect({
    waiting: () => ({ runs: sandbox.waiting, ...builds.waiting, help: languageHelp.waiting }),
    connections: () => storage.connections?.(),
  });
  const recording = recordRuns(storage, {
    ...options.recording,
    now,
    onDropped(count, reason) {
      metrics?.countDroppedRecords(count);
      if (reason !== undefined) log?.warn({ err: reason }, 'The database has refused the record of a run.');
    },
  });
  const { rates, rateLeaseTimeout, tenantPlugins } = options;
  const limits = new RequestLimits(storage.tables.rateCounters, {
    now,
    ...(rates && { rates }),
    ...(rateLeaseTimeout !== undefined && { leaseTimeout: rateLeaseTimeout }),
    ...(trustedProxies && { trustedProxies }),
  });
  const eraser = new Eraser(storage, {
    now,
    onError: (error) => {
      // That the database is away is said elsewhere.
      if (isFault(error)) log?.warn({ err: error }, 'What was deleted could not be erased yet.');
    },
  });
  const context: ServiceContext = {
    storage,
    builds,
    languageHelp,
    schemaCompiler,
    sandbox,
    recorder: recording.recorder,
    languages,
    limits,
    eraser,
    tenantPlugins,
    features,
    editorTokenTtl,
    now,
    operations: [...health.operations, ...operations],
    isDraining,
    readiness: readinessOf({ storage, sandbox, isDraining }),
  };

  const reportFault = (error: unknown, c: Context) => {
    if (isFault(error)) onError(error, { id: requestInfo(c).id, method: c.req.method, path: c.req.path });
  };
  const app = new Hono({ getPath: encodedPath });
  app.use('*', observeRequests({ log, metrics, trustedProxies, now }));
  app.use('*', async (c, next) => {
    await next();
    for (const [name, value] of defaultHeaders) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  });
  // Before the host is looked at: whoever watches the service asks by its address.
  addOperations(app, health.operations, context);
  app.use('*', async (c, next) => {
    c.set('reportFault', (error) => reportFault(error, c));
    await next();
  });
  app.use('*', limitStrays(limits));
  app.use('*', checkHost(hosts));
  const cors = operationCors(operations);
  app.use('/api/*', cors);
  app.use('/openapi.json', cors);
  app.use('*', checkPath);
  app.use('*', async (_, next) => {
    if (!storage.isSchemaReady) throw schemaMissing();
    await next();
  });
  app.use('*', boundBodies());
  addOperations(app, operations, context);
  editorPage(app, editorAssets, {
    ancestors: editorAncestors,
    addressTokens: editorAddressTokens,
    countPage: (c) => limits.takePage(c),
  });
  app.notFound((c) =>
    errorResponse(notFound('not-found', 'There is nothing at this path.'), requestInfo(c).id),
  );
  app.onError((error, c) => {
    reportFault(error, c);
    return errorResponse(error, requestInfo(c).id);
  });

  return {
    fetch: (request, env) => app.fetch(request, env),
    refuse: refuseMalformed({ log, metrics }),
    warmUp: () => {
      sandbox.warmUp();
      builds.warmUp();
    },
    close: async () => {
      limits.close();
      const erased = eraser.close();
      builds.close();
      languageHelp.close();
      schemaCompiler.close();
      await Promise.all([sandbox.close(), erased]);
      // What ran until now is recorded, too.
      await recording.close();
    },
  };
}

// What the service answers is for this moment and for its caller, and nothing to render.
const defaultHeaders = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
] as const;

// Whoever set AUTO_MIGRATE=off is about to run the migration.
const schemaMissing = () =>
  new ServiceError(
    503,
    'storage-unavailable',
    "The database's schema is not the one that this release needs yet.",
    { headers: { 'retry-after': '5' } },
  );

const logError =
  (log: Log) =>
  (error: unknown, { id, method }: FailedRequest) =>
    log.error({ requestId: id, method, err: error }, 'a request failed');

const logSkippedLanguage = (log: Log) => (language: string, reason: unknown) =>
  log.warn({ language, err: reason }, 'A toolchain does not work here and is left out.');

function printError(error: unknown, { method, path }: FailedRequest): void {
  console.error(`${method} ${path} failed:`, error);
}
