import { toWebRequest } from './node-request.ts';
import type { NodeRequest, NodeResponse } from './node-types.ts';
import { INTERNAL_MESSAGE, Refusal, refusalResponse } from './refusal.ts';
import type { TokenEndpoint } from './token-endpoint.ts';

/** The `context` that `authorize` and the other functions of the options get. */
export interface NodeContext<Req extends NodeRequest = NodeRequest, Res = NodeResponse> {
  req: Req;
  res: Res;
}

/** Fits `express().all(path, handler)` as well as `createServer(handler)`. */
export type NodeHandler<Req extends NodeRequest = NodeRequest, Res = NodeResponse> = (
  req: Req,
  res: Res,
  next?: (error?: unknown) => void,
) => void;

/**
 * Makes an endpoint a handler for Express or `node:http`. It takes `req.body` where a middleware has parsed it, and else
 * reads the body itself. The endpoint's context is `{ req, res }`. The request's signal aborts when the client closes the
 * connection. An error is passed to `next`; without `next` it is logged and answered with 500.
 *
 * The request's URL is made of `Host` and of `req.protocol`, which in Express follows the setting `trust proxy`. If a proxy
 * ends TLS and neither says so, name the public origin in `allowedOrigins`.
 */
export function toNodeHandler<Req extends NodeRequest = NodeRequest, Res extends NodeResponse = NodeResponse>(
  endpoint: TokenEndpoint<NodeContext<Req, Res>>,
): NodeHandler<Req, Res> {
  if (typeof endpoint !== 'function')
    throw new TypeError('endpoint must be a function, from createTokenEndpoint()');
  return (req, res, next) => {
    handle(endpoint, req, res).catch((error: unknown) => fail(error, res, next));
  };
}

async function handle<Req extends NodeRequest, Res extends NodeResponse>(
  endpoint: TokenEndpoint<NodeContext<Req, Res>>,
  req: Req,
  res: Res,
): Promise<void> {
  const abort = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) abort.abort();
  });
  let drain: (() => void) | undefined;
  try {
    const converted = toWebRequest(req, abort.signal);
    drain = converted.drain;
    await send(await endpoint(converted.request, { req, res }), res);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await send(refusalResponse(error), res);
  } finally {
    drain?.();
  }
}

async function send(response: Response, res: NodeResponse): Promise<void> {
  const body = new Uint8Array(await response.arrayBuffer());
  // Something else has answered, such as a time limit in the application.
  if (res.headersSent || res.destroyed) return;
  res.statusCode = response.status;
  if (response.statusText) res.statusMessage = response.statusText;
  for (const [name, value] of response.headers) {
    // A middleware, such as one for sessions, may have set these two, which are kept.
    if (name === 'set-cookie' || name === 'vary') res.appendHeader(name, value);
    // Node sets it itself. With a wrong one, from a response of the host's own, the client would wait for more.
    else if (name !== 'content-length') res.setHeader(name, value);
  }
  res.end(body);
}

async function fail(
  error: unknown,
  res: NodeResponse,
  next: ((error?: unknown) => void) | undefined,
): Promise<void> {
  if (next) {
    next(error);
    return;
  }
  console.error('plugin-editor: the token endpoint failed:', error);
  // Part of a response was sent. When the connection is closed, the client notices that the rest is missing.
  if (res.headersSent) res.destroy();
  else await send(refusalResponse(new Refusal(500, 'internal', INTERNAL_MESSAGE)), res);
}
