import type { Context, Hono, MiddlewareHandler } from 'hono';
import { bindingsOf } from './bindings.ts';
import { badRequest, forbidden, methodNotAllowed, ServiceError } from './errors.ts';
import { requestInfo } from './request-info.ts';

export type RouteHandler = (c: Context) => Response | Promise<Response>;

/** The methods that operations may have, in the order in which the header `Allow` lists them. */
export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof methods)[number];

/** The handlers of a path, by method. */
export type RouteHandlers = Partial<Record<Method, RouteHandler>>;

/** Adds a path with its handlers. HEAD is handled as GET, OPTIONS lists the methods, and any other method is a 405. */
export function route(app: Hono, path: string, handlers: RouteHandlers): void {
  const allow = [
    ...methods.filter((method) => handlers[method]).flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : one)),
    'OPTIONS',
  ].join(', ');
  app.all(path, (c) => {
    requestInfo(c).route = path;
    const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
    if (method === 'OPTIONS') return c.body(null, 204, { allow });
    const handler = Object.hasOwn(handlers, method) ? handlers[method as Method] : undefined;
    if (!handler) throw methodNotAllowed(c.req.method, allow);
    return handler(c);
  });
}

/** The path to route by, still encoded: in a decoded path, a slash within a name would separate two segments. */
export function encodedPath({ url }: Request): string {
  // The URL of a `Request` is always absolute. Parsing it again would cost more than the rest of the routing.
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const length = url.slice(start).search(/[?#]/);
  return length < 0 ? url.slice(start) : url.slice(start, start + length);
}

/** How many bytes the names of a request may have together. An index of PostgreSQL takes no key above 2.7 kB. */
const maxNameBytes = 2000;

/**
 * Refuses a path that is not percent-encoded UTF-8, one with a segment that is `.` or `..`, and names that {@link checkNames} refuses.
 * A name may hold anything else, slashes included, because no name is looked up in a file system.
 */
export function checkPath(c: Context): void {
  const { path } = c.req;
  if (path.length <= maxNameBytes && plainPath.test(path) && sentPath(c) === path) return;
  // The editor's own page ends in a slash.
  const names = path.startsWith('/editor/') ? [] : path.split('/').slice(2);
  let decoded: string[];
  try {
    decodeURIComponent(path);
    decoded = names.map(decodeURIComponent);
  } catch {
    throw badRequest('invalid-path', 'The path is not percent-encoded UTF-8.');
  }
  if (sentPath(c).split('/').some(isDotSegment)) throw noName();
  checkNames(decoded);
}

/** Refuses names that no path can hold, those with U+0000, which PostgreSQL cannot store, and those that are too long together. */
export function checkNames(names: readonly string[]): void {
  if (names.some((name) => /^\.{0,2}$/.test(name))) throw noName();
  if (names.some((name) => name.includes('\0')))
    throw badRequest('invalid-path', 'No name may hold the character U+0000.');
  if (Buffer.byteLength(names.join('')) > maxNameBytes)
    throw badRequest('invalid-path', `The names may have ${maxNameBytes} bytes together.`);
}

const noName = () => badRequest('invalid-path', 'No name in a path may be empty, "." or "..".');

/** A path in which there is nothing to decode, and no segment begins with a period: most are such, and this is the quickest check. */
const plainPath = /^(?:\/[\w~-][\w.~-]*)+$/;

const isDotSegment = (segment: string) => /^(?:\.|%2e){1,2}$/i.test(segment);

/**
 * The path as the client sent it; empty for a request that did not come by a connection. `URL` has already resolved dot segments,
 * so that `a/../b` would look like another path than the one that was requested.
 */
function sentPath(c: Context): string {
  return bindingsOf(c).incoming?.url?.split('?', 1)[0] ?? '';
}

/** Refuses a request whose host is not one of `hosts`, against DNS rebinding: a foreign name that resolves to this machine. */
export function checkHost(hosts: readonly string[]): MiddlewareHandler {
  const isKnown = knownAmong(hosts);
  return async (c, next) => {
    const target = hostOf(c.req.raw);
    // The request line may hold an absolute URL; then both its host and the header have to be known.
    if (!isKnown(target) || !isKnown(c.req.header('host') ?? target)) {
      // The message does not list the known hosts, because internal names may be among them.
      throw new ServiceError(
        421,
        'misdirected',
        'The Host of the request is not one of this service; PUBLIC_URL and ALLOWED_HOSTS set those that are.',
      );
    }
    await next();
  };
}

/** Refuses a request of a page that is not at one of `hosts`: such a page may have got hold of a token, or reach this machine. */
export function checkOrigin(hosts: readonly string[]): MiddlewareHandler {
  const isKnown = knownAmong(hosts);
  return async (c, next) => {
    const origin = c.req.header('origin');
    if (origin !== undefined && !(URL.canParse(origin) && isKnown(new URL(origin).host)))
      throw forbidden('A page of another origin may not call this.');
    await next();
  };
}

const knownAmong = (hosts: readonly string[]) => (host: string) =>
  hosts.includes(host) || hosts.some((known) => canonical(known) === canonical(host));

function hostOf({ url }: Request): string {
  const start = url.indexOf('//') + 2;
  return url.slice(start, url.indexOf('/', start));
}

const canonical = (host: string) => host.toLowerCase().replace(/:80$/, '');
