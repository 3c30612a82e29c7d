import { defineConfig } from '@playwright/test';
import { findOnPath } from './scripts/paths.mjs';

/** The system's browser: what Playwright would download is neither needed nor always reachable. */
const executablePath = ['chromium', 'chromium-browser', 'google-chrome'].map(findOnPath).find(Boolean);

export default defineConfig({
  testDir: 'test/e2e',
  outputDir: 'test-results',
  timeout: 60_000,
  expect: { timeout: 10_000 },
  // Each test starts a server of its own; a third one goes on while two wait for what they expect.
  fullyParallel: true,
  workers: 3,
  forbidOnly: process.env['CI'] !== undefined,
  reporter: 'list',
  use: {
    screenshot: 'only-on-failure',
    // `--trace on` for whoever looks for a mistake: it costs a third of the time.
    trace: 'off',
  },
  projects: [
    {
      name: 'chromium',
      use: {
        browserName: 'chromium',
        launchOptions: {
          ...(executablePath ? { executablePath } : {}),
          args: [
            // Root, as in a container, cannot use Chromium's sandbox.
            '--no-sandbox',
            '--disable-gpu',
            '--disable-quic',
            '--no-first-run',
            '--disable-background-networking',
            '--disable-component-update',
            '--disable-sync',
          ],
        },
      },
    },
  ],
});
