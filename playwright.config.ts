import { defineConfig } from '@playwright/test';
import { chromiumLaunch } from './scripts/chromium.mjs';
import { shareCompileCache } from './scripts/compile-cache.mjs';

/** `stand-in` runs them over the stand-in for Electron, on the desktop that the other variable names. */
const electronPlace = process.env['LICENSE_DESK_E2E_PLACE'] === 'stand-in' ? 'stand-in' : 'electron';
const desktop = process.env['LICENSE_DESK_E2E_DESKTOP'] || null;

shareCompileCache();

const launchOptions = {
  ...chromiumLaunch,
  args: [
    ...chromiumLaunch.args,
    // A page lives for seconds here, so compiling its code with optimizations costs more than it saves. And V8 would compile
    // code while it is being downloaded, even if an earlier page has compiled the same code.
    '--js-flags=--no-maglev --no-turbofan --no-script-streaming',
    // The pages of all tests in one process: to start one, and to compile the page's code in it, takes as long as a short test.
    '--renderer-process-limit=1',
    '--disable-site-isolation-trials',
  ],
};

export default defineConfig<{ place: 'electron' | 'stand-in'; desktop: string | null }>({
  testDir: 'test/e2e',
  outputDir: 'test-results',
  globalSetup: './test/helpers/run-folder.ts',
  // A last fence: each step has its own bound below, whose message names it. On a quiet machine nothing comes near.
  timeout: 600_000,
  expect: { timeout: 120_000 },
  // Each test starts a server; a third one goes on while two wait for what they expect.
  fullyParallel: true,
  workers: 3,
  forbidOnly: process.env['CI'] !== undefined,
  reporter: 'list',
  use: {
    // Between tests, Playwright closes all pages but one, and removes cookies, stored data, caches, routes and scripts; test.ts
    // takes back permissions. Each test starts a new server. A test whose context must not be shared opens a new one.
    reuseContext: true,
    actionTimeout: 120_000,
    navigationTimeout: 120_000,
    // Transitions cost frames; shell.spec.ts turns them on to test them.
    contextOptions: { reducedMotion: 'reduce' },
    screenshot: 'only-on-failure',
    // `--trace on` for whoever looks for a mistake: it costs a third of the time.
    trace: 'off',
  },
  projects: [
    { name: 'chromium', use: { browserName: 'chromium', launchOptions } },
    // The same specs in the desktop app, where there is one; else each says why not.
    {
      name: 'electron',
      // The app does these otherwise: it saves through the system's dialogs, and starts its own server again.
      grepInvert: /@browser/u,
      testIgnore: /desktop-(?:shell|page)\.spec\.ts/u,
      use: {
        browserName: 'chromium',
        launchOptions,
        place: electronPlace,
        desktop,
      },
    },
  ],
});
