import type { IncomingMessage, ServerResponse } from 'node:http';

import { answer, answerPreflight, isPreflight } from './script-answers.ts';
import { parseScopedPath, type Command, type SeenRequest } from './script-rules.ts';
import { ScriptScope } from './script-scope.ts';

/**
 * The scripted server without a socket: it answers the requests below `/s/<id>/` of whichever servers it is
 * put behind, all from one set of scopes, and carries out the commands of the tests.
 */
export class ScriptHandler {
  #scopes = new Map<string, ScriptScope>();

  /** Whether the request is below a scope; if so it is answered, and the promise ends with its connection. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const url = new URL(rawUrl(request));
    const scoped = parseScopedPath(rawPath(request));
    if (!scoped) return false;

    const scope = this.#scopes.get(scoped.id);
    if (!scope) {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end(`No test has made the scope "${scoped.id}".`);
      return true;
    }

    const seen: SeenRequest = {
      method: request.method ?? 'GET',
      path: scoped.path,
      query: Object.fromEntries(url.searchParams),
      search: url.search,
      headers: headersOf(request),
      body: '',
      origin: url.origin,
      matched: false,
      preflight: false,
      aborted: false,
    };
    const gone = new AbortController();
    const exchange = { request, response, scope, ...scoped, gone: gone.signal, cut: false };
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    response.once('close', () => {
      if (response.writableFinished || exchange.cut) return;
      gone.abort();
      scope.markAborted(seen);
    });

    try {
      seen.body = await readBody(request);
    } catch {
      // The client went away while it was still sending: there is no request to answer or to show.
      return true;
    }
    const asksFirst = isPreflight(request);
    const rule = scope.take(seen.method, scoped.path, asksFirst);
    seen.matched = rule !== undefined;
    seen.preflight = asksFirst && !rule;
    scope.record(seen);

    if (seen.preflight) answerPreflight(request, response);
    else {
      const body = `No rule for ${seen.method} ${scoped.path}`;
      await answer(rule ?? { path: '*', status: 404, body }, exchange);
    }
    await closed;
    return true;
  }

  /** Carries out one command. Never gives null, which the test runner would take for "not mine". */
  async execute(command: Command): Promise<unknown> {
    if (command.type === 'create') {
      this.#scopes.set(command.id, new ScriptScope());
      return true;
    }
    const scope = this.#scopes.get(command.id);
    if (!scope) throw new Error(`No scope "${command.id}"`);
    if (command.type === 'requests') return scope.requests(command, (request) => !request.preflight);
    if (command.type === 'preflights') return scope.requests(command, (request) => request.preflight);
    if (command.type === 'aborted') return scope.requests(command, (request) => request.aborted);
    if (command.type === 'release') return scope.release(command.path);
    if (command.type === 'reset') scope.reset(command.rules);
    else scope.add(command.rules);
    return true;
  }

  /** The same as a listener for a server that has nothing else to answer. */
  listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!(await this.handle(request, response))) response.writeHead(404).end();
  };
}

function rawPath(request: IncomingMessage): string {
  return (request.url ?? '/').replace(/\?.*$/s, '');
}

function rawUrl(request: IncomingMessage): string {
  return `http://${request.headers.host ?? 'localhost'}${request.url ?? '/'}`;
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  );
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
