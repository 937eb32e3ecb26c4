import { once } from 'node:events';

import type { TestRunnerPlugin } from '@web/test-runner';

/** Moves the server of the test runner, which listens on every interface, to the loopback interface. */
export function loopbackOnly(): TestRunnerPlugin {
  return {
    name: 'loopback-only',
    async serverStart({ server, config }) {
      if (!server) return;
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await once(server.listen(config.port ?? 0, '127.0.0.1'), 'listening');
    },
  };
}
