import type { TestRunnerConfig } from '@web/test-runner';

import config from '../web-test-runner.config.ts';

/** The browser tests that take longer than those of `npm test`. */
export default {
  ...config,
  files: 'test/soak/**/*.soak.ts',
  testsFinishTimeout: 30 * 60_000,
  testFramework: { config: { timeout: '0' } },
} satisfies TestRunnerConfig;
