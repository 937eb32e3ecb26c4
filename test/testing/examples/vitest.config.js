import { playwright } from '@vitest/browser-playwright';
import { standInPlugin } from 'plugin-editor/testing.js';
import { defineConfig } from 'vitest/config';

const { CHROMIUM: executablePath } = process.env;

export default defineConfig({
  plugins: [standInPlugin()],
  test: {
    include: ['app.test.js'],
    testTimeout: 120_000,
    // A busy machine is slow.
    expect: { poll: { timeout: 60_000 } },
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: playwright({ launchOptions: { executablePath, args: ['--no-sandbox'] } }),
      instances: [{ browser: 'chromium' }],
    },
  },
});
