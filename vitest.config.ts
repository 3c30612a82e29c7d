import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    // Processes, not threads: the SQLite driver is native code, and some tests change the working directory.
    pool: 'forks',
    // Much of the time is spent waiting for servers to start and stop: more files at once than the cores would say.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: ['test/helpers/ensure-build.ts'],
  },
});
