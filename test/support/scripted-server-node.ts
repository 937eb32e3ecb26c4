import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ScriptHandler } from './script-handler.ts';
import type { Rule } from './script-rules.ts';
import { newScopeId, scriptedServerApi, type ScriptedServer } from './scripted-server-api.ts';

/**
 * The same scripted server for one Node test, on a port of its own. All of its origins are that one server
 * (`crossSite` by another name).
 *
 *     await using server = await startScriptedServer({ path: '/token', json: { token: 't1' } });
 */
export async function startScriptedServer(...rules: Rule[]): Promise<ScriptedServer & AsyncDisposable> {
  const handler = new ScriptHandler();
  const http = createServer((request, response) => void handler.listener(request, response));
  // One request for each connection: a client that finds a kept one cut may quietly ask a second time.
  http.maxRequestsPerSocket = 1;
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;

  const id = newScopeId();
  await handler.execute({ type: 'create', id });
  const server = scriptedServerApi(
    id,
    {
      second: `http://127.0.0.1:${port}`,
      same: `http://127.0.0.1:${port}`,
      crossSite: `http://localhost:${port}`,
    },
    (command) => handler.execute(command),
  );
  if (rules.length > 0) await server.on(...rules);

  return {
    ...server,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}
