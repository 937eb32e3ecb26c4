import { defineConfig } from '@playwright/test';

const { CHROMIUM: executablePath, PORT: port = '5199' } = process.env;

export default defineConfig({
  testMatch: 'app.spec.js',
  timeout: 120_000,
  expect: { timeout: 60_000 },
  workers: 1,
  use: { baseURL: `http://localhost:${port}`, launchOptions: { executablePath, args: ['--no-sandbox'] } },
  webServer: { command: `npx vite app --port ${port} --strictPort`, port: Number(port), timeout: 600_000 },
});
