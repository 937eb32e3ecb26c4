import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import { SCOPE_PREFIX, type Rule } from './script-rules.ts';
import type { ScriptScope } from './script-scope.ts';

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  scope: ScriptScope;
  id: string;
  path: string;
  /** Aborted when the client went away before it had the whole answer. */
  gone: AbortSignal;
  /** Set when the server itself cuts the connection, so that this is not booked on the client. */
  cut: boolean;
}

/** Answers one request as the rule says. */
export async function answer(rule: Rule, exchange: Exchange): Promise<void> {
  const { request, response, scope, path, gone } = exchange;

  if (rule.delay === 'hang') await scope.hold(path, gone);
  else if (rule.delay) await wait(rule.delay, undefined, { signal: gone }).catch(() => undefined);
  if (gone.aborted) return;

  if (rule.drop === 'start') {
    cut(exchange);
    return;
  }

  const { type, content } = bodyOf(rule);
  response.statusCode = rule.status ?? (rule.redirect === undefined ? 200 : 302);
  response.setHeader('cache-control', 'no-store');
  if (type) response.setHeader('content-type', type);
  if (rule.redirect !== undefined) response.setHeader('location', locationOf(rule.redirect, exchange.id));
  for (const [name, value] of Object.entries(rule.headers ?? {})) response.setHeader(name, value);
  if (rule.cors !== false) allowOrigin(request, response);

  if (rule.drop === 'midway') {
    response.setHeader('content-length', content.length);
    response.write(content.subarray(0, Math.floor(content.length / 2)), () => cut(exchange));
    return;
  }
  response.end(request.method === 'HEAD' ? undefined : content);
}

/** By a reset: WebKitGTK takes a body that merely ends too early for a whole one. */
function cut(exchange: Exchange): void {
  exchange.cut = true;
  exchange.request.socket.resetAndDestroy();
}

/** Answers a CORS preflight so that the request behind it is allowed. */
export function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  response.statusCode = 204;
  allowOrigin(request, response);
  response.setHeader('access-control-allow-methods', 'GET, HEAD, POST, PUT, PATCH, DELETE');
  const wanted = request.headers['access-control-request-headers'];
  if (wanted) response.setHeader('access-control-allow-headers', wanted);
  response.end();
}

/** Whether this is the browser's own question before a cross-origin request. */
export function isPreflight(request: IncomingMessage): boolean {
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
}

/** Lets the asking origin read the answer and its headers, with credentials; what the rule set itself stays. */
function allowOrigin(request: IncomingMessage, response: ServerResponse): void {
  const defaults = {
    'access-control-allow-origin': request.headers.origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': ['date', ...response.getHeaderNames()].join(', '),
    vary: 'origin',
  };
  if (!request.headers.origin) return;
  for (const [name, value] of Object.entries(defaults)) {
    if (value !== undefined && !response.hasHeader(name)) response.setHeader(name, value);
  }
}

function locationOf(redirect: string, id: string): string {
  return /^\/(?!\/)/.test(redirect) ? `${SCOPE_PREFIX}${id}${redirect}` : redirect;
}

function bodyOf(rule: Rule): { type?: string; content: Buffer } {
  if (rule.json !== undefined)
    return { type: 'application/json', content: Buffer.from(JSON.stringify(rule.json)) };
  if (rule.html !== undefined) return { type: 'text/html; charset=utf-8', content: Buffer.from(rule.html) };
  if (rule.body !== undefined) return { type: 'text/plain; charset=utf-8', content: Buffer.from(rule.body) };
  if (rule.bodyBase64 !== undefined) {
    return { type: 'application/octet-stream', content: Buffer.from(rule.bodyBase64, 'base64') };
  }
  if (rule.bodyRepeat !== undefined) {
    const { text, times } = rule.bodyRepeat;
    return { type: 'text/plain; charset=utf-8', content: Buffer.from(text.repeat(times)) };
  }
  return { content: Buffer.alloc(0) };
}
