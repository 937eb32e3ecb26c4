import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import type { TestRunnerConfig, TestRunnerPlugin } from '@web/test-runner';

import { ScriptedServerHandler } from './scripted-server-handler.ts';
import { COMMAND_NAME, type Command, PENDING } from './scripted-server-command.ts';

/** After how long a command is answered, in ms, even if what it waits for has not happened: the page waits only for 20 s. */
const ANSWER_TIME = 5000;

type Middleware = NonNullable<TestRunnerConfig['middleware']>[number];

/**
 * The scripted server (see scripted-server.ts) as parts of the test runner: the middleware answers on the
 * test page's own origin, the plugin runs the second origin on another port and takes the tests' commands.
 */
export function scriptedOrigins(): { middleware: Middleware; plugin: TestRunnerPlugin } {
  const handler = new ScriptedServerHandler();
  /** Calls that wait for something, by their ids. */
  const calls = new Map<string, Promise<unknown>>();
  const second = createServer((request, response) => void handler.listener(request, response));

  return {
    middleware: async (context, next) => {
      if (!context.path.startsWith('/s/')) {
        await next();
        return;
      }
      context.respond = false;
      // Awaited to the end of the connection, so that nothing outside adds headers to an unfinished response.
      const closed = once(context.res, 'close');
      await handler.listener(context.req, context.res);
      await closed;
      // The runner lists each 404 as a missing file, but a scripted one is intended.
      context.res.statusCode = 200;
    },
    plugin: {
      name: 'scripted-origins',
      async serverStart({ server }) {
        // One request for each connection: a browser that finds a kept connection cut sends its request again by
        // itself, and a test that counts requests would then see one too many.
        second.maxRequestsPerSocket = 1;
        (server as Server).maxRequestsPerSocket = 1;
        await once(second.listen(0, '127.0.0.1'), 'listening');
      },
      serverStop() {
        second.close();
        second.closeAllConnections();
      },
      async executeCommand({ command, payload }) {
        if (command !== COMMAND_NAME) return undefined;
        const { id, call, name, args } = payload as Command;
        if (name === 'create') {
          handler.createScope(id);
          return (second.address() as AddressInfo).port;
        }
        const scope = handler.scope(id);
        if (!scope) throw new Error(`No scope "${id}"`);
        const run = scope[name].bind(scope) as (...parameters: unknown[]) => Promise<unknown>;
        // The test runner takes `undefined` for "not mine".
        const result = calls.get(call) ?? run(...args).then((value) => value ?? true);
        calls.delete(call);
        const answer = await Promise.race([result, wait(ANSWER_TIME, PENDING, { ref: false })]);
        if (answer === PENDING) calls.set(call, result);
        return answer;
      },
    },
  };
}
