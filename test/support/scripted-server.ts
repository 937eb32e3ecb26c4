import { executeServerCommand } from '@web/test-runner-commands';

import type { Rule } from './scripted-server-rules.ts';
import type { ScopeCommands } from './scripted-server-scope.ts';
import { scriptedServerApi, type ScriptedServer } from './scripted-server-api.ts';
import { PATIENCE } from './until.ts';
import { COMMAND_NAME, type Command, type PENDING } from './scripted-server-command.ts';

/** A test may replace the clock. */
const realNow = performance.now.bind(performance);

export type { Filter, Rule, SeenRequest } from './scripted-server-rules.ts';
export type { ScriptedOrigin, ScriptedServer } from './scripted-server-api.ts';

/**
 * A scripted server for one browser test: a real HTTP server whose responses the test writes itself.
 *
 *     const server = await scriptedServer({ path: '/token', json: { token: 't1' } });
 *     element.tokenEndpoint = server.sameOrigin.url('/token');
 *     const [request] = await server.requests(1);
 *
 * Commands go through the test runner's socket, not by fetch: a test may replace `fetch`, and hanging responses
 * may use up the six connections that a browser opens to one origin.
 */
export async function scriptedServer(...rules: Rule[]): Promise<ScriptedServer> {
  const id = crypto.randomUUID();
  const send =
    <T>(name: Command['name']) =>
    async (...args: unknown[]): Promise<T> => {
      const command: Command = { id, call: crypto.randomUUID(), name, args };
      for (const deadline = realNow() + PATIENCE; ;) {
        const result = await executeServerCommand<T | typeof PENDING, Command>(COMMAND_NAME, command);
        if (!isPending(result)) return result;
        if (realNow() > deadline) throw new Error(`Waited in vain for ${name}(${JSON.stringify(args)})`);
      }
    };
  const commands: ScopeCommands = {
    on: send('on'),
    reset: send('reset'),
    requests: send('requests'),
    aborted: send('aborted'),
    release: send('release'),
  };
  const port = await send<number>('create')();
  const origins = {
    second: `http://localhost:${port}`,
    same: location.origin,
    crossSite: `http://127.0.0.1:${port}`,
  };
  const server = scriptedServerApi(id, origins, commands);
  if (rules.length > 0) await server.on(...rules);
  return server;
}

const isPending = (result: unknown): result is typeof PENDING =>
  typeof result === 'object' && result !== null && 'pending' in result;
