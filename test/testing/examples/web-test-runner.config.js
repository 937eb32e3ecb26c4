import { chromeLauncher } from '@web/test-runner-chrome';
import { standInPlugin } from 'plugin-editor/testing.js';

const { CHROMIUM: executablePath } = process.env;

export default {
  files: 'app.wtr.js',
  nodeResolve: true,
  plugins: [standInPlugin()],
  browsers: [chromeLauncher({ launchOptions: { executablePath, args: ['--no-sandbox'] } })],
  // A busy machine is slow.
  browserStartTimeout: 120_000,
  testsStartTimeout: 120_000,
  testFramework: { config: { timeout: 120_000 } },
};
