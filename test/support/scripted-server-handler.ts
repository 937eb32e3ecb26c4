import { getRequestListener, type HttpBindings } from '@hono/node-server';

import { resetConnection } from './reset-connection.ts';
import type { Rule, SeenRequest } from './scripted-server-rules.ts';
import { onAbort, ScriptedServerScope } from './scripted-server-scope.ts';

/** Answers the requests below `/s/<id>/` of whichever servers it is put behind, all from one set of scopes. */
export class ScriptedServerHandler {
  readonly #scopes = new Map<string, ScriptedServerScope>();

  /** For a server of `node:http`. */
  readonly listener = getRequestListener(
    (request, bindings) => this.#respond(request, bindings as HttpBindings),
    { overrideGlobalObjects: false },
  );

  createScope(id: string): ScriptedServerScope {
    const scope = new ScriptedServerScope();
    this.#scopes.set(id, scope);
    return scope;
  }

  scope(id: string): ScriptedServerScope | undefined {
    return this.#scopes.get(id);
  }

  async #respond(request: Request, { incoming, outgoing }: HttpBindings): Promise<Response> {
    // Not taken from the URL of the request, in which "%2e%2e" and the like are resolved.
    const [, id = '', path = '/'] = /^\/s\/([\w-]+)(\/[^?]*)?/.exec(incoming.url ?? '') ?? [];
    const scope = this.#scopes.get(id);
    if (!scope) return new Response(`No test has made the scope "${id}".`, { status: 404 });

    const { method, headers, signal } = request;
    const url = new URL(request.url);
    const seen: SeenRequest = {
      method,
      path,
      query: Object.fromEntries(url.searchParams),
      search: url.search,
      headers: Object.fromEntries(headers),
      body: await request.text(),
      origin: url.origin,
      aborted: false,
    };
    const isPreflight = method === 'OPTIONS' && headers.has('access-control-request-method');
    const rule = scope.take(method, path, isPreflight);
    if (isPreflight && !rule) return respondToPreflight(request);
    scope.record(seen);
    if (!rule)
      return toResponse({ path: '*', status: 404, body: `No rule for ${method} ${path}` }, request, id);

    // When the rule itself cuts the connection, the client did not abort.
    if (!rule.drop) onAbort(signal, () => scope.markAborted(seen));
    if (rule.delay === 'hang') await scope.hold(path, signal);
    const response = toResponse(rule, request, id);
    if (!rule.drop) return response;

    if (rule.drop === 'midway') {
      const content = Buffer.from(await response.arrayBuffer());
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      await new Promise((resolve) =>
        outgoing.write(content.subarray(0, Math.floor(content.length / 2)), resolve),
      );
    }
    // The connection is reset because WebKitGTK accepts a body that merely ends too early.
    resetConnection(incoming.socket);
    // Stays pending, so that the adapter sends nothing. RESPONSE_ALREADY_SENT fails where a test before has replaced `Response`.
    return new Promise(() => {});
  }
}

function toResponse(rule: Rule, request: Request, id: string): Response {
  const [type, text] = bodyOf(rule);
  const content = text === undefined ? null : Buffer.from(text);
  const headers = new Headers({ 'cache-control': 'no-store' });
  if (type !== undefined) headers.set('content-type', type);
  if (content) headers.set('content-length', String(content.length));
  if (rule.redirect !== undefined)
    headers.set('location', /^\/(?!\/)/.test(rule.redirect) ? `/s/${id}${rule.redirect}` : rule.redirect);
  for (const [name, value] of Object.entries(rule.headers ?? {})) {
    headers.delete(name);
    for (const one of [value].flat()) headers.append(name, one);
  }
  if (rule.cors !== false) allowOrigin(request, headers);
  const status = rule.status ?? (rule.redirect === undefined ? 200 : 302);
  return new Response(content, { status, headers });
}

function bodyOf({ json, html, body, bodyRepeat }: Rule): [type?: string, text?: string] {
  if (json !== undefined) return ['application/json', JSON.stringify(json)];
  if (html !== undefined) return ['text/html; charset=utf-8', html];
  const text = bodyRepeat ? bodyRepeat.text.repeat(bodyRepeat.times) : body;
  return text === undefined ? [] : ['text/plain; charset=utf-8', text];
}

/** Allows the request behind a CORS preflight. */
function respondToPreflight(request: Request): Response {
  const headers = new Headers({ 'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE' });
  allowOrigin(request, headers);
  const requested = request.headers.get('access-control-request-headers');
  if (requested) headers.set('access-control-allow-headers', requested);
  return new Response(null, { status: 204, headers });
}

/** Lets the requesting origin read the response and its headers, with credentials, unless the rule set other headers. */
function allowOrigin(request: Request, headers: Headers): void {
  const origin = request.headers.get('origin');
  if (!origin) return;
  const defaults = {
    'access-control-expose-headers': ['date', ...headers.keys()].join(', '),
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    vary: 'origin',
  };
  for (const [name, value] of Object.entries(defaults)) if (!headers.has(name)) headers.set(name, value);
}
