import { RequestError } from '@hono/node-server';
import { Hono } from 'hono';
import { access } from './access.ts';
import { build } from './build.ts';
import { Builds } from '../toolchains/build/builds.ts';
import { boundBodies } from './body-budget.ts';
import { builder } from './builder.ts';
import { check } from './check.ts';
import { builderCors } from './cors.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { deploy } from './deploy.ts';
import { editorPage } from './editor-page.ts';
import type { EditorAssets } from './editor-page.ts';
import { badRequest, errorResponse, notFound, ServiceError } from './errors.ts';
import { execution } from './execution.ts';
import { loadLanguages } from '../toolchains/languages.ts';
import { progress } from './progress.ts';
import { checkHost, checkPath, encodedPath } from './routes.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import type { Storage } from '../storage/storage.ts';
import { testing } from './testing.ts';

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
  /** The clock: milliseconds since the epoch. */
  now?: () => number;
  /** Told of every fault that was answered with 500 (default: printed). The path comes without its query. */
  onError?: (error: unknown, request: { method: string; path: string }) => void;
}

export interface Service {
  /** Answers one request; `env` is what the HTTP server adds to it. */
  fetch: (request: Request, env?: object) => Response | Promise<Response>;
  /** The answer to what never became a request, such as a malformed `Host`: the HTTP listener's `errorHandler`. */
  refuse: (error: unknown) => Response;
  /** Starts the toolchains and the sandbox in the background, so that nobody waits for it later. */
  warmUp: () => void;
  /** Ends what the service runs. */
  close: () => Promise<void>;
}

const interfaces: readonly ServiceInterface[] = [
  builder,
  build,
  check,
  testing,
  deploy,
  progress,
  access,
  execution,
];

/** Makes the plugin service. Throws when an option cannot be used. */
export function createService(options: ServiceOptions): Service {
  const { storage, editorAssets, hosts, editorTokenTtl = 900, now = Date.now } = options;
  const { editorAncestors, editorAddressTokens, onError = printError } = options;
  if (!Number.isSafeInteger(editorTokenTtl) || editorTokenTtl < 1) {
    throw new Error('EDITOR_TOKEN_TTL must be a whole number of seconds, at least 1.');
  }
  const features = interfaces.flatMap((one) => one.features ?? []);
  const languages = loadLanguages();
  const builds = new Builds(languages);
  const sandbox = new Sandbox();
  const context: ServiceContext = { storage, builds, sandbox, languages, features, editorTokenTtl, now };

  const app = new Hono({ getPath: encodedPath });
  app.use('*', async (c, next) => {
    await next();
    for (const [name, value] of defaultHeaders) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  });
  app.use('*', checkHost(hosts));
  app.use('/api/*', builderCors);
  app.use('*', checkPath);
  app.use('*', boundBodies());
  for (const one of interfaces) one.routes(app, context);
  editorPage(app, editorAssets, { ancestors: editorAncestors, addressTokens: editorAddressTokens });
  app.notFound(() => errorResponse(notFound('not-found', 'There is nothing at this path.')));
  app.onError((error, c) => {
    if (!(error instanceof ServiceError)) onError(error, { method: c.req.method, path: c.req.path });
    return errorResponse(error);
  });

  return {
    fetch: (request, env) => app.fetch(request, env),
    refuse: (error) => errorResponse(error instanceof RequestError ? malformedRequest : error),
    warmUp: () => {
      sandbox.warmUp();
      builds.warmUp();
    },
    close: async () => {
      builds.close();
      await sandbox.close();
    },
  };
}

const malformedRequest = badRequest('invalid-request', 'The request line or the Host header is malformed.');

// What the service answers is for this moment and for its caller, and nothing to render.
const defaultHeaders = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
] as const;

function printError(error: unknown, { method, path }: { method: string; path: string }): void {
  console.error(`${method} ${path} failed:`, error);
}
