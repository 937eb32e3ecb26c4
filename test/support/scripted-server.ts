import { executeServerCommand } from '@web/test-runner-commands';

import { COMMAND_NAME, type Command, type Created, type Rule } from './script-rules.ts';
import { newScopeId, scriptedServerApi, type ScriptedServer } from './scripted-server-api.ts';

export type { Filter, Rule, SeenRequest } from './script-rules.ts';
export type { ScriptedOrigin, ScriptedServer } from './scripted-server-api.ts';

/**
 * A scripted server for one browser test: a real HTTP server whose answers the test writes itself.
 *
 *     const server = await scriptedServer({ path: '/token', json: { token: 't1' } });
 *     element.tokenEndpoint = server.sameOrigin.url('/token');
 *     const [request] = await server.requests(1);
 *
 * Commands go through the test runner's socket, not by fetch: a test may replace `fetch`, and hanging answers
 * may use up the six connections that a browser opens to one origin.
 */
export async function scriptedServer(...rules: Rule[]): Promise<ScriptedServer> {
  const id = newScopeId();

  const { secondPort } = (await send({ type: 'create', id })) as Created;
  const server = scriptedServerApi(
    id,
    {
      second: `http://localhost:${secondPort}`,
      same: location.origin,
      crossSite: `http://127.0.0.1:${secondPort}`,
    },
    send,
  );
  if (rules.length > 0) await server.on(...rules);
  return server;
}

function send(command: Command): Promise<unknown> {
  return executeServerCommand(COMMAND_NAME, command);
}
