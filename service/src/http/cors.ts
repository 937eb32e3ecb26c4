import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';

// Editors on any origin may call the builder: what they need for it is a token, and a browser adds none by itself.
const anyOrigin = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST', 'PUT'],
  allowHeaders: ['authorization', 'content-type', 'if-match', 'if-none-match'],
  exposeHeaders: ['etag', 'retry-after', 'ratelimit', 'ratelimit-policy', 'www-authenticate', 'x-request-id'],
  maxAge: 600,
});

/** CORS without credentials, for the builder alone: environment tokens have no business in a page. */
export const builderCors: MiddlewareHandler = (c, next) => {
  const preflight = c.req.header('access-control-request-method') !== undefined;
  // An OPTIONS request that is no preflight asks what a path can do.
  return c.req.method === 'OPTIONS' && !preflight ? next() : anyOrigin(c, next);
};
