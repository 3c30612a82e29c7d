import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    // Processes, not threads: the SQLite driver is native code, and some tests change the working directory.
    pool: 'forks',
    // Much of the time is spent waiting for servers to start and stop: more files at once than the cores would say.
    maxWorkers: 2,
    // Hundreds of servers and commands are started, each on a data directory of its own: what Node has compiled for
    // one of them it need not compile for the next, which halves its start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'compiled') },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: ['test/helpers/ensure-build.ts'],
  },
});
