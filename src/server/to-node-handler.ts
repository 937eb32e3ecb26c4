import { toWebRequest } from './node-request.ts';
import type { NodeRequest, NodeResponse } from './node-types.ts';
import { INTERNAL, Refusal, refusalAnswer } from './refusal.ts';
import type { TokenEndpoint } from './token-endpoint.ts';

/** What `authorize` and the other functions get as context. */
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
 * Makes an endpoint a handler for Express or `node:http`. It takes `req.body` where something has parsed it already, and
 * else reads the body itself; the endpoint's context is `{ req, res }`. A client that goes away aborts the request's
 * signal. What is thrown goes to `next`, and without one is logged and answered with 500.
 *
 * The request's address is made of `Host` and of `req.protocol`, which in Express follows the setting `trust proxy`. Where
 * neither tells of a proxy that ends TLS, name the public origin in `allowedOrigins`.
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
  const gone = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) gone.abort();
  });
  let drain: (() => void) | undefined;
  try {
    const converted = toWebRequest(req, gone.signal);
    drain = converted.drain;
    await send(await endpoint(converted.request, { req, res }), res);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await send(refusalAnswer(error), res);
  } finally {
    drain?.();
  }
}

async function send(answer: Response, res: NodeResponse): Promise<void> {
  const body = new Uint8Array(await answer.arrayBuffer());
  // Something else has answered, such as a time limit of the host's.
  if (res.headersSent || res.destroyed) return;
  res.statusCode = answer.status;
  if (answer.statusText) res.statusMessage = answer.statusText;
  for (const [name, value] of answer.headers) {
    // These two add to what a session or another middleware has set.
    if (name === 'set-cookie' || name === 'vary') res.appendHeader(name, value);
    // Node counts the body itself; a host's own count that is wrong would leave the client waiting.
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
  // Part of the answer has been sent. Closing the connection lets the client see that the rest is missing.
  if (res.headersSent) res.destroy();
  else await send(refusalAnswer(new Refusal(500, 'internal', INTERNAL)), res);
}
