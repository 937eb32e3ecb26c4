import { Hono } from 'hono';
import type { Context } from 'hono';
import { operationCors } from './cors.ts';
import type { ServiceContext } from './context.ts';
import { editorPage } from './editor-page.ts';
import type { EditorAssets, EditorPageOptions } from './editor-page.ts';
import { errorCodeOf, errorResponse, isUnexpectedError, notFound, ServiceError } from './errors.ts';
import { health } from './health.ts';
import { interfaces } from './interfaces.ts';
import { addOperations } from './operations/mount.ts';
import { observeRequests } from './observe-requests.ts';
import { requestInfo } from './request-info.ts';
import type { TrustedProxies } from './client-address.ts';
import { checkHost, checkOrigin, checkPath, encodedPath } from './routes.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import { requestOwner } from '../storage/turns.ts';
import { countUnmatched } from './admission.ts';

/** The options of a service that its routes need. */
export interface AppOptions {
  /** The editor's files by their path under `/editor/`. Read at every request. */
  editorAssets: EditorAssets;
  /** The values of `Host` that are accepted, such as `localhost:8082`. Read at every request. */
  hosts: readonly string[];
  editorAncestors?: EditorPageOptions['ancestors'];
  editorAddressTokens?: EditorPageOptions['addressTokens'];
  /** The proxies whose `X-Forwarded-For` is believed (default: none). */
  trustedProxies?: TrustedProxies | undefined;
  /** Gets a line for every request and every failure (default: requests are not logged, and failures go to the console). */
  log?: Log | undefined;
  /** Counts requests, runs and builds. */
  metrics?: Metrics | undefined;
  /** Called with every error that became a 500 or broke a response off (default: logged). The path is without its query. */
  onError?: (error: unknown, request: FailedRequest) => void;
}

/** A request whose response was a 500, or was broken off. */
export interface FailedRequest {
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

/** All operations but those of health. */
export const operations = interfaces.flatMap((one) => one.operations);

/** Makes the routes of the service, with the middleware around them. */
export function createApp(options: AppOptions, context: ServiceContext): Hono {
  const { editorAssets, hosts, editorAncestors, editorAddressTokens, log, metrics, trustedProxies } = options;
  const { onError = log ? logError(log) : printError } = options;
  const { storage, admission, now } = context;
  const reportUnexpectedError = (error: unknown, c: Context) => {
    if (isUnexpectedError(error))
      onError(error, { id: requestInfo(c).id, method: c.req.method, path: c.req.path });
  };
  const app = new Hono({ getPath: encodedPath });
  const observe = observeRequests({ log, metrics, trustedProxies, now });
  app.use('*', (c, next) => {
    c.set('reportUnexpectedError', (error) => reportUnexpectedError(error, c));
    return requestOwner.run({}, () => observe(c, next));
  });
  // Before the host is checked, because probes send the address of the node as `Host`.
  addOperations(app, health.operations, context);
  app.use('*', countUnmatched(admission));
  app.use('*', checkHost(hosts));
  const cors = operationCors(operations);
  app.use('/api/*', cors);
  app.use('/openapi.json', cors);
  app.use('*', async (c, next) => {
    checkPath(c);
    if (!storage.isSchemaReady) throw schemaMissing();
    await next();
  });
  app.use('/mcp', checkOrigin(hosts));
  addOperations(app, operations, context);
  editorPage(app, editorAssets, {
    ancestors: editorAncestors,
    addressTokens: editorAddressTokens,
    countPage: (c) => admission.takePage(c),
  });
  const respondTo = (error: unknown, c: Context) => {
    const info = requestInfo(c);
    info.errorCode = errorCodeOf(error);
    // Of another response that was made before.
    info.hasHeaders = false;
    return errorResponse(error, info.id);
  };
  app.notFound((c) => respondTo(notFound('not-found', 'There is nothing at this path.'), c));
  app.onError((error, c) => {
    reportUnexpectedError(error, c);
    return respondTo(error, c);
  });
  return app;
}

// With AUTO_MIGRATE=off the operator runs the migration, probably at this moment, so that trying again is worthwhile.
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
