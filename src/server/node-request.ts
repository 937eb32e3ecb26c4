import { METHODS } from './cors.ts';
import type { NodeRequest } from './node-types.ts';
import { Refusal } from './refusal.ts';

/** A host name or IP address, and its port if any. No other character, because it could end the host part of a URL. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i;

/** The methods that a web-standard `Request` cannot have. */
const FORBIDDEN_METHOD = /^(CONNECT|TRACE|TRACK)$/i;

export interface Converted {
  request: Request;
  /** Reads and drops what is left of the body. Until then, the connection cannot carry another request. */
  drain: () => void;
}

/**
 * Makes a web-standard `Request` of a request of `node:http`.
 * @param signal aborts when the client goes away
 * @throws Refusal 400 without a usable `Host`, 405 for a method that no `Request` can have.
 */
export function toWebRequest(req: NodeRequest, signal: AbortSignal): Converted {
  const { method = 'GET' } = req;
  if (FORBIDDEN_METHOD.test(method)) {
    throw new Refusal(405, 'method-not-allowed', 'The method must be POST or GET', { allow: METHODS });
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    // HTTP/2 has pseudo-headers, whose names begin with a colon.
    if (!name.startsWith(':')) for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  const { body, drain = () => undefined } = /^(GET|HEAD)$/.test(method) ? {} : bodyOf(req);
  const init = { method, headers, signal, ...(body !== undefined && { body, duplex: 'half' }) };
  return { request: new Request(addressOf(req), init), drain };
}

/**
 * The URL of a request. It is put together as text and not resolved against the host: a path that starts with two slashes
 * would then name another host, whose pages would count as the endpoint's own.
 */
function addressOf(req: NodeRequest): string {
  const host = req.headers.host ?? req.headers[':authority'];
  const isSecure = req.protocol ? req.protocol === 'https' : 'encrypted' in req.socket;
  const origin = `${isSecure ? 'https' : 'http'}://${String(host)}`;
  if (typeof host !== 'string' || !HOST.test(host) || !URL.canParse(origin)) {
    throw new Refusal(
      400,
      'bad-request',
      'The Host header must be a host name or address, and its port if any',
    );
  }
  const path = req.originalUrl ?? req.url ?? '/';
  if (path.startsWith('/')) return origin + path;
  // A request to a proxy has a whole URL instead of the path, and `OPTIONS` may have `*`.
  const { pathname, search } = URL.canParse(path) ? new URL(path) : { pathname: '/', search: '' };
  return origin + pathname + search;
}

function bodyOf(req: NodeRequest): { body?: BodyInit; drain?: () => void } {
  const { body, readableDidRead } = req;
  if (typeof body === 'string') return { body };
  if (body instanceof Uint8Array) return { body: new Uint8Array(body) };
  // Express 4 sets an empty object while nothing has read the body.
  const isEmptyObject = typeof body === 'object' && body !== null && Object.keys(body).length === 0;
  const isSet = body !== undefined && (readableDidRead || !isEmptyObject);
  if (isSet) return { body: JSON.stringify(body) };
  if (readableDidRead) {
    throw new TypeError(
      'The request’s body was read before the token endpoint got it, and req.body is not set; ' +
        'parse it with express.json(), or put the endpoint before what reads it',
    );
  }
  return streamOf(req);
}

/** The body as a stream that reads only on demand, because most refusals need none of it. */
function streamOf(req: NodeRequest): { body: ReadableStream<Uint8Array>; drain: () => void } {
  const parts = req.iterator({ destroyOnReturn: false }) as AsyncGenerator<Uint8Array | string, void>;
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      // The parts are text where a middleware has set an encoding.
      else controller.enqueue(typeof value === 'string' ? new TextEncoder().encode(value) : value);
    },
  };
  return {
    body: new ReadableStream(source, { highWaterMark: 0 }),
    drain: () =>
      void parts.return().then(
        () => req.resume(),
        () => undefined,
      ),
  };
}
