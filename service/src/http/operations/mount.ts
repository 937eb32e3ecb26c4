import type { Hono } from 'hono';
import { admit } from '../admission.ts';
import type { ServiceContext } from '../context.ts';
import { route } from '../routes.ts';
import type { RouteHandler, RouteHandlers } from '../routes.ts';
import { toResponse } from './responses.ts';
import type { AnyHandlerResponse } from './responses.ts';
import type { Operation } from './operation.ts';

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
  return admit(operation, context, (c, result) =>
    result instanceof Response
      ? result
      : toResponse(c, operation, result as AnyHandlerResponse, context.checksResponses),
  );
}
