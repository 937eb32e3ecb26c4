import type { Hono } from 'hono';
import { authorize } from '../auth.ts';
import type { ServiceContext } from '../context.ts';
import { requestInfo } from '../request-info.ts';
import { route } from '../routes.ts';
import type { Handler, Handlers } from '../routes.ts';
import { answer } from './answers.ts';
import { readBody, readQuery } from './bodies.ts';
import type { Operation } from './operation.ts';
import { pathReader } from './target.ts';

/**
 * Adds operations to an app, all of a path at once. Each is answered as it is declared.
 * @throws Error when two are of the same name, or answer at the same method and path.
 */
export function addOperations(app: Hono, operations: readonly Operation[], context: ServiceContext): void {
  const ids = new Set<string>();
  const paths = new Map<string, Handlers>();
  for (const one of operations) {
    const handlers = paths.get(one.path) ?? {};
    if (ids.has(one.id)) throw new Error(`Two operations are called ${one.id}.`);
    if (handlers[one.method]) throw new Error(`Two operations are ${one.method} ${one.path}.`);
    ids.add(one.id);
    paths.set(one.path, { ...handlers, [one.method]: handlerOf(one, context) });
  }
  for (const [path, handlers] of paths) route(app, path, handlers);
}

function handlerOf(operation: Operation, context: ServiceContext): Handler {
  const { id, auth, permission, query, body, answers, handle } = operation;
  const readPath = pathReader(operation.path);
  return async (c) => {
    const { id: requestId, answerHeaders } = requestInfo(c);
    // The id of the request is its run's, too, also where nothing runs.
    if (auth === 'run') answerHeaders['x-suborbital-requestid'] = requestId;
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
    return result instanceof Response
      ? result
      : answer(c, id, answers, result as Parameters<typeof answer>[3]);
  };
}
