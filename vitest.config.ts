import { defineConfig } from 'vitest/config';
import { shareCompileCache } from './scripts/compile-cache.mjs';

/**
 * Files that change their process, or measure it. All others share their worker's modules, because loading the server for
 * each one takes a third of its CPU time; test/helpers/setup-file.ts gives each a clean start.
 */
const IN_OWN_PROCESS = [
  'test/architecture.test.ts',
  'test/cli/lease-run.test.ts',
  'test/electron/conformance.test.ts',
  'test/electron/required.test.ts',
  'test/electron/update-flow.test.ts',
  'test/electron/updates.test.ts',
  'test/electron/windows.test.ts',
  'test/leases/lease-races.test.ts',
  'test/openapi/clients.test.ts',
  'test/openapi/lint.test.ts',
  'test/robustness/fuzz-http.test.ts',
  'test/robustness/retention-kill.test.ts',
  'test/server/authorization-memory.test.ts',
  'test/server/direct-lane.test.ts',
  'test/server/restore-killed.test.ts',
  'test/server/tls-auto.test.ts',
  'test/webhooks/delivery-sender.test.ts',
];

/**
 * Files that start many programs, and few servers. To start one, the system copies the page tables of the process, which
 * takes 2 ms of CPU time in a small process, and 40 in one that has run a hundred servers.
 */
const STARTING_PROGRAMS = [
  'test/certificates/certificate-builder.test.ts',
  'test/certificates/crl-builder.test.ts',
  'test/certificates/distinguished-name.test.ts',
  'test/certificates/import-refused.test.ts',
  'test/certificates/signing-request.test.ts',
];

/**
 * V8 collects garbage with several threads, which wait for each other on cores that other files keep busy. One thread, with
 * space for all that a few tests leave behind, needs a quarter less CPU time for the whole process.
 */
const QUIET_COLLECTOR = ['--single-threaded-gc', '--min-semi-space-size=32', '--max-semi-space-size=64'];

/**
 * For glibc: large blocks of memory in pages of 2 MB, where the system has them. Deriving a key from a passphrase fills 128 MB,
 * and in pages of 4 KB, entering them takes as long as filling them.
 */
process.env['GLIBC_TUNABLES'] ??= 'glibc.malloc.hugetlb=1';

shareCompileCache();

/** A long lane is bounded as a whole (scripts/long-lanes.mjs). */
const isLongLane = process.env['LICENSE_DESK_ROUNDS'] !== undefined;
const FENCE_MS = isLongLane ? 0 : 900_000;

export default defineConfig({
  test: {
    environment: 'node',
    // Processes, not threads: the SQLite driver is native code, and a crash must end one worker alone.
    pool: 'forks',
    setupFiles: ['test/helpers/setup-file.ts'],
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    // Much of the time is spent waiting for servers to start and stop: more files at once than the cores would say.
    maxWorkers: 4,
    // A last fence: the helpers bound each command, start and stop, and name the one that hangs.
    expect: { poll: { timeout: 120_000 } },
    testTimeout: FENCE_MS,
    hookTimeout: FENCE_MS,
    // Node runs the sources itself, as it does for users of the CLI; nothing here is mocked or needs Vite.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    globalSetup: [
      'test/helpers/run-folder.ts',
      'test/helpers/ensure-build.ts',
      'test/helpers/run-postgres.ts',
    ],
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          isolate: false,
          execArgv: QUIET_COLLECTOR,
          include: ['test/**/*.test.ts'],
          exclude: [...IN_OWN_PROCESS, ...STARTING_PROGRAMS],
        },
      },
      { extends: true, test: { name: 'programs', isolate: false, include: STARTING_PROGRAMS } },
      { extends: true, test: { name: 'own', execArgv: ['--single-threaded-gc'], include: IN_OWN_PROCESS } },
    ],
  },
});
