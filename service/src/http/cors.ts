import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { matchedRoutes } from 'hono/route';
import type { Auth } from './auth.ts';
import type { Operation } from './operations/operation.ts';
import { methods } from './routes.ts';
import type { Method } from './routes.ts';

/** Whether pages may call an operation. An environment token must never be in a page. */
const isForPages: Readonly<Record<Auth, boolean>> = {
  none: true,
  monitor: false,
  editor: true,
  'editor-or-environment': true,
  optional: true,
  environment: false,
  run: false,
};

/**
 * CORS without credentials for the operations that take an editor token or none. Editors on any origin may call them, because
 * a browser never adds a token by itself. A path without operations may be called from any origin, so that a page can read
 * the 404.
 */
export function operationCors(operations: readonly Operation[]): MiddlewareHandler {
  const policies = new Map(
    [...Map.groupBy(operations, ({ path }) => path)].map(([path, all]) => {
      const methodsOf = (forPages: boolean) =>
        all.filter(({ auth }) => isForPages[auth] === forPages).map(({ method }) => method);
      return [
        path,
        { allow: anyOrigin(methodsOf(true)), allowed: methodsOf(true), refused: methodsOf(false) },
      ];
    }),
  );
  const allowElsewhere = anyOrigin(methods);

  return (c, next) => {
    // An OPTIONS request that is not a preflight asks for the methods of a path.
    const isPreflight = c.req.header('access-control-request-method') !== undefined;
    if (c.req.method === 'OPTIONS' && !isPreflight) return next();
    const route = matchedRoutes(c).find(({ path }) => policies.has(path));
    const policy = route && policies.get(route.path);
    if (!policy) return c.req.method === 'OPTIONS' ? allowElsewhere(c, next) : expose(c, next);
    const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
    // Also allowed where the path has no such method, so that a page can read the 405.
    const isAllowed = policy.allowed.length > 0 && !policy.refused.some((one) => one === method);
    if (!isAllowed) return next();
    return c.req.method === 'OPTIONS' ? policy.allow(c, next) : expose(c, next);
  };
}

const exposed = ['etag', 'retry-after', 'ratelimit', 'ratelimit-policy', 'www-authenticate', 'x-request-id'];

/** Hono's own middleware sets the headers before there is a response, which turns the body of the later one into a stream. */
const expose: MiddlewareHandler = async (c, next) => {
  await next();
  c.res.headers.set('access-control-allow-origin', '*');
  c.res.headers.set('access-control-expose-headers', exposed.join(','));
};

const anyOrigin = (allowed: readonly Method[]) =>
  cors({
    origin: '*',
    allowMethods: allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
    allowHeaders: ['authorization', 'content-type', 'if-match', 'if-none-match'],
    exposeHeaders: exposed,
    maxAge: 600,
  });
