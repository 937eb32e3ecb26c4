import { createServer, type Server } from 'node:http';
import { createServer as createSocketServer, type AddressInfo } from 'node:net';

import type { TestRunnerConfig, TestRunnerPlugin } from '@web/test-runner';

import { ScriptHandler } from './script-handler.ts';
import { COMMAND_NAME, SCOPE_PREFIX, type Command, type Created } from './script-rules.ts';

type Middleware = NonNullable<TestRunnerConfig['middleware']>[number];

/**
 * The scripted server (see scripted-server.ts) as parts of the test runner: the middleware answers on the
 * test page's own origin, the plugin runs the second origin on a port of its own and takes the tests' commands.
 */
export function scriptedOrigins(): { middleware: Middleware; plugin: TestRunnerPlugin } {
  const handler = new ScriptHandler();
  const second = createServer((request, response) => void handler.listener(request, response));

  return {
    middleware: async (context, next) => {
      if (!context.path.startsWith(SCOPE_PREFIX)) {
        await next();
        return;
      }
      context.respond = false;
      // Awaited to the end of the connection, so that nothing outside adds headers to an answer under way.
      await handler.listener(context.req, context.res);
      // The runner lists each 404 as a file that is missing; a scripted one is meant.
      context.res.statusCode = 200;
    },
    plugin: {
      name: 'scripted-origins',
      async serverStart({ server }) {
        // One request for each connection: a browser that finds a kept connection cut asks a second time by
        // itself, and a test that counts requests would then see one too many.
        second.maxRequestsPerSocket = 1;
        (server as Server).maxRequestsPerSocket = 1;
        await listenOnLoopback(second, 0);
      },
      serverStop() {
        second.close();
        second.closeAllConnections();
      },
      async executeCommand({ command, payload }) {
        if (command !== COMMAND_NAME) return undefined;
        const wanted = payload as Command;
        const result = await handler.execute(wanted);
        if (wanted.type !== 'create') return result;
        return { secondPort: (second.address() as AddressInfo).port } satisfies Created;
      },
    },
  };
}

/** The test runner listens on every interface; this takes its server back to the loopback one. */
export function loopbackOnly(): TestRunnerPlugin {
  return {
    name: 'loopback-only',
    async serverStart({ server, config }) {
      if (!server) return;
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await listenOnLoopback(server as Server, config.port ?? 0);
    },
  };
}

/** A port that is free now. The runner's own choice (from 8000 up) is the same for two runs that start together. */
export async function freePort(): Promise<number> {
  const server = createSocketServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listenOnLoopback(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}
