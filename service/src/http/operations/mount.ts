import type { Hono } from 'hono';
import { authorize } from '../auth.ts';
import type { ServiceContext } from '../context.ts';
import { requestInfo } from '../request-info.ts';
import { route } from '../routes.ts';
import type { RouteHandler, RouteHandlers } from '../routes.ts';
import { toResponse } from './responses.ts';
import type { AnyHandlerResponse } from './responses.ts';
import { readBody, readQuery } from './bodies.ts';
import type { Operation } from './operation.ts';
import { pathReader } from './target.ts';

/**
 * Adds the routes of operations to an app, all methods of a path at once.
 * @throws Error when two operations have the same id, or the same method and path.
 */
export function addOperations(app: Hono, operations: readonly Operation[], context: ServiceContext): void {
  const ids = new Set<string>();
  const paths = new Map<string, RouteHandlers>();
  for (const one of operations) {
    const handlers = paths.get(one.path) ?? {};
    if (ids.has(one.id)) throw new Error(`Two operations are called ${one.id}.`);
    if (handlers[one.method]) throw new Error(`Two operations are ${one.method} ${one.path}.`);
    ids.add(one.id);
    paths.set(one.path, { ...handlers, [one.method]: handlerOf(one, context) });
  }
  for (const [path, handlers] of paths) route(app, path, handlers);
}

function handlerOf(operation: Operation, context: ServiceContext): RouteHandler {
  const { id, auth, permission, query, body, responses, handle } = operation;
  const readPath = pathReader(operation.path);
  return async (c) => {
    const { id: requestId, responseHeaders } = requestInfo(c);
    // A run has the id of its request. The header is sent even where the request is refused and nothing runs.
    if (auth === 'run') responseHeaders['x-suborbital-requestid'] = requestId;
    const { path, target } = readPath(c);
    const request = {
      c,
      path,
      target,
      caller: await authorize(c, context, { auth, permission }, target),
      query: query && readQuery(c, query),
      body: body && (await readBody(c, body)),
    };
    const result = await handle(request, context);
    return result instanceof Response ? result : toResponse(c, id, responses, result as AnyHandlerResponse);
  };
}
