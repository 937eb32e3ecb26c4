import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ScriptedServerHandler } from './scripted-server-handler.ts';
import type { Rule } from './scripted-server-rules.ts';
import { scriptedServerApi, type ScriptedServer } from './scripted-server-api.ts';

/**
 * The same scripted server for one Node test, on a separate port. All of its origins are that one server
 * (`crossSite` by another name).
 *
 *     await using server = await startScriptedServer({ path: '/token', json: { token: 't1' } });
 */
export async function startScriptedServer(...rules: Rule[]): Promise<ScriptedServer & AsyncDisposable> {
  const handler = new ScriptedServerHandler();
  const http = createServer((request, response) => void handler.listener(request, response));
  // One request for each connection: a client that finds a kept one cut may send its request again.
  http.maxRequestsPerSocket = 1;
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const { port } = http.address() as AddressInfo;

  const id = crypto.randomUUID();
  const scope = handler.createScope(id);
  const origin = `http://127.0.0.1:${port}`;
  const origins = { second: origin, same: origin, crossSite: `http://localhost:${port}` };
  const server = scriptedServerApi(id, origins, {
    on: (...parameters) => scope.on(...parameters),
    reset: (...parameters) => scope.reset(...parameters),
    requests: (filter) => scope.requests(filter),
    aborted: (filter) => scope.aborted(filter),
    release: (path) => scope.release(path),
  });
  if (rules.length > 0) await server.on(...rules);

  return {
    ...server,
    async [Symbol.asyncDispose]() {
      http.close();
      http.closeAllConnections();
      await once(http, 'close');
    },
  };
}
