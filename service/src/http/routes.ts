import type { Context, Hono, MiddlewareHandler } from 'hono';
import { badRequest, methodNotAllowed, ServiceError } from './errors.ts';
import { requestInfo } from './request-info.ts';

export type Handler = (c: Context) => Response | Promise<Response>;

/** The methods that there are, in the order in which an answer names them. */
export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof methods)[number];

/** What answers at a path, by method. */
export type Handlers = Partial<Record<Method, Handler>>;

/**
 * Adds a path with all that answers there. Every other method is a 405 that names these; HEAD goes with GET, and
 * OPTIONS tells what there is.
 */
export function route(app: Hono, path: string, handlers: Handlers): void {
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

/**
 * The path to route by: as it was sent, still encoded, since routing by a decoded path would take the slash
 * within a name for one between two names.
 */
export function encodedPath({ url }: Request): string {
  // The URL of a request is written out in full. Taking it apart anew costs more than all other routing.
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const length = url.slice(start).search(/[?#]/);
  return length < 0 ? url.slice(start) : url.slice(start, start + length);
}

/** How many bytes the names in a path may have together. An index of PostgreSQL takes no key above 2.7 kB. */
const mostNameBytes = 2000;

/**
 * Refuses a path that is not percent-encoded UTF-8, and one with a segment that is no name: empty, `.` or `..`, or with
 * U+0000 in it, which no text in PostgreSQL can hold. (A name may hold anything else, slashes included: nothing here is
 * looked up in a file system.)
 */
export const checkPath: MiddlewareHandler = async (c, next) => {
  const path = encodedPath(c.req.raw);
  // The editor's own page ends in a slash.
  const names = path.startsWith('/editor/') ? [] : path.split('/').slice(2);
  let decoded: string[];
  try {
    decodeURIComponent(path);
    decoded = names.map(decodeURIComponent);
  } catch {
    throw badRequest('invalid-path', 'The path is not percent-encoded UTF-8.');
  }
  if (decoded.includes('') || sentPath(c).split('/').some(isDotSegment)) {
    throw badRequest('invalid-path', 'No segment of the path may be empty, "." or "..".');
  }
  if (decoded.some((name) => name.includes('\0'))) {
    throw badRequest('invalid-path', 'No name in the path may hold the character U+0000.');
  }
  if (Buffer.byteLength(decoded.join('')) > mostNameBytes) {
    throw badRequest('invalid-path', `The names in the path may have ${mostNameBytes} bytes together.`);
  }
  await next();
};

const isDotSegment = (segment: string) => /^(?:\.|%2e){1,2}$/i.test(segment);

/**
 * The path before `URL` resolved its dot segments, where the server tells: resolved, `a/../b` is some other path,
 * which was not asked for.
 */
function sentPath(c: Context): string {
  const env: unknown = c.env;
  const url = (env as { incoming?: { url?: unknown } } | undefined)?.incoming?.url;
  return typeof url === 'string' ? (url.split('?', 1)[0] ?? '') : '';
}

/** Refuses a request whose host is not one of `hosts`: another site's name that was made to resolve to this machine. */
export function checkHost(hosts: readonly string[]): MiddlewareHandler {
  const isKnown = (host: string) => hosts.some((known) => canonical(known) === canonical(host));
  return async (c, next) => {
    const target = hostOf(c.req.raw);
    // A request line may hold a whole address; then both it and the header have to be right.
    if (!isKnown(target) || !isKnown(c.req.header('host') ?? target)) {
      // Which those are is not said: internal names are among them.
      throw new ServiceError(421, 'misdirected', 'This service is not known by the Host that was asked for.');
    }
    await next();
  };
}

function hostOf({ url }: Request): string {
  const start = url.indexOf('//') + 2;
  return url.slice(start, url.indexOf('/', start));
}

const canonical = (host: string) => host.toLowerCase().replace(/:80$/, '');
