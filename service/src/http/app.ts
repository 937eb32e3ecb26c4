import { Hono } from 'hono';
import type { Context } from 'hono';
import { limitBodies } from './body-budget.ts';
import type { Refuse } from './client-errors.ts';
import { operationCors } from './cors.ts';
import type { ServiceContext } from './context.ts';
import { editorPage } from './editor-page.ts';
import type { EditorAssets } from './editor-page.ts';
import { errorResponse, isUnexpectedError, notFound, ServiceError } from './errors.ts';
import { health } from './health.ts';
import { interfaces } from './interfaces.ts';
import { addOperations } from './operations/mount.ts';
import { observeRequests } from './observe-requests.ts';
import { refuseMalformed } from './refuse-malformed.ts';
import { requestInfo } from './request-info.ts';
import type { RequestRates } from './request-limits.ts';
import { createReadinessCheck } from './readiness.ts';
import { ServiceParts } from './service-parts.ts';
import type { ToolProcesses } from './service-parts.ts';
import type { TrustedProxies } from './client-address.ts';
import { checkHost, checkPath, encodedPath } from './routes.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { RecordingOptions } from '../runs/recording.ts';
import type { AdjustableLimits } from '../sandbox/run-limits.ts';
import type { Storage } from '../storage/storage.ts';
import { limitUnmatchedRequests } from './unmatched-requests.ts';

export interface ServiceOptions {
  /** Remains the caller's to close, after the service was closed. */
  storage: Storage;
  /** The editor's files by their path under `/editor/`. Read at every request. */
  editorAssets: EditorAssets;
  /** The values of `Host` that are accepted, such as `localhost:8082`. Read at every request. */
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
  /** The limits by the minute (default: none). */
  rates?: RequestRates;
  /** How long a request may wait for a lease of its rate before the database counts as lost, in ms (default 1000). */
  rateLeaseTimeout?: number;
  /** How many plugins a tenant may have (default: any number). */
  tenantPlugins?: number;
  /** What is recorded of runs, and for how long it is kept. */
  recording?: RecordingOptions | undefined;
  /** The clock: milliseconds since the epoch. */
  now?: () => number;
  /** The limits of a run (default: 1 s, 32 MiB). */
  runLimits?: AdjustableLimits | undefined;
  /** The proxies whose `X-Forwarded-For` is believed (default: none). */
  trustedProxies?: TrustedProxies | undefined;
  /** Gets a line for every request and every failure (default: requests are not logged, and failures go to the console). */
  log?: Log | undefined;
  /** Counts requests, runs and builds. */
  metrics?: Metrics | undefined;
  /**
   * The compilers and runners of several services in one process, which remain the caller's to close (default: the service has its
   * own). `runLimits` has no effect on them, and `metrics` counts none of their runs and builds. Only tests use this option.
   */
  toolProcesses?: ToolProcesses | undefined;
  /** Whether the service is shutting down, so that `/readyz` is 503. */
  isDraining?: () => boolean;
  /** Called with every error that became a 500 or broke a response off (default: logged). The path is without its query. */
  onError?: (error: unknown, request: FailedRequest) => void;
}

/** A request whose response was a 500, or was broken off. */
export interface FailedRequest {
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

export interface Service {
  /** Handles one request. `env`: Node's objects of the request, by which the client's address is found. */
  fetch: (request: Request, env?: object) => Response | Promise<Response>;
  /** Makes the response to what could not be parsed as a request, for the `errorHandler` of the HTTP listener. */
  refuse: Refuse;
  /** Starts the compilers and a runner in the background, so that the first build and run need not wait for them. */
  warmUp: () => void;
  /** Ends the processes, queues and timers of the service. Runs and builds under way fail; the storage stays open. */
  close: () => Promise<void>;
}

/** Makes the plugin service. Throws when an option cannot be used. */
export function createService(options: ServiceOptions): Service {
  const { storage, editorTokenTtl = 900, now = Date.now, isDraining = () => false } = options;
  const { log, metrics, tenantPlugins } = options;
  if (!Number.isSafeInteger(editorTokenTtl) || editorTokenTtl < 1) {
    throw new Error('EDITOR_TOKEN_TTL must be a whole number of seconds, at least 1.');
  }
  const parts = new ServiceParts({ ...options, now });
  const { toolProcesses, languages, limits, eraser, recording } = parts;
  const context: ServiceContext = {
    storage,
    ...toolProcesses,
    recorder: recording.recorder,
    languages,
    limits,
    eraser,
    tenantPlugins,
    features: interfaces.flatMap((one) => one.features ?? []),
    editorTokenTtl,
    now,
    operations: [...health.operations, ...operations],
    isDraining,
    readiness: createReadinessCheck({ storage, sandbox: toolProcesses.sandbox, isDraining }),
  };
  const app = createApp(options, context);
  return {
    fetch: (request, env) => app.fetch(request, env),
    refuse: refuseMalformed({ log, metrics }),
    warmUp: () => parts.warmUp(),
    close: () => parts.close(),
  };
}

const operations = interfaces.flatMap((one) => one.operations);

/** Makes the routes of the service, with the middleware around them. */
function createApp(options: ServiceOptions, context: ServiceContext): Hono {
  const { editorAssets, hosts, editorAncestors, editorAddressTokens, log, metrics, trustedProxies } = options;
  const { onError = log ? logError(log) : printError } = options;
  const { storage, limits, now } = context;
  const reportUnexpectedError = (error: unknown, c: Context) => {
    if (isUnexpectedError(error))
      onError(error, { id: requestInfo(c).id, method: c.req.method, path: c.req.path });
  };
  const app = new Hono({ getPath: encodedPath });
  app.use('*', observeRequests({ log, metrics, trustedProxies, now }));
  app.use('*', async (c, next) => {
    await next();
    for (const [name, value] of defaultHeaders) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  });
  // Before the host is checked, because probes send the address of the node as `Host`.
  addOperations(app, health.operations, context);
  app.use('*', async (c, next) => {
    c.set('reportUnexpectedError', (error) => reportUnexpectedError(error, c));
    await next();
  });
  app.use('*', limitUnmatchedRequests(limits));
  app.use('*', checkHost(hosts));
  const cors = operationCors(operations);
  app.use('/api/*', cors);
  app.use('/openapi.json', cors);
  app.use('*', checkPath);
  app.use('*', async (_, next) => {
    if (!storage.isSchemaReady) throw schemaMissing();
    await next();
  });
  app.use('*', limitBodies());
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
    reportUnexpectedError(error, c);
    return errorResponse(error, requestInfo(c).id);
  });
  return app;
}

// For every response that does not set them itself. It is made for one caller at one moment, so nothing may cache it; and it is
// not a page, so browsers must not render it as one.
const defaultHeaders = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
] as const;

// With AUTO_MIGRATE=off the operator runs the migration, which is likely to be under way, so that trying again is worthwhile.
const schemaMissing = () =>
  new ServiceError(
    503,
    'storage-unavailable',
    "The database's schema is older than this release needs; try again once it has been migrated.",
    { headers: { 'retry-after': '5' } },
  );

const logError =
  (log: Log) =>
  (error: unknown, { id, method }: FailedRequest) =>
    log.error({ requestId: id, method, err: error }, 'a request failed');

function printError(error: unknown, { method, path }: FailedRequest): void {
  console.error(`${method} ${path} failed:`, error);
}
