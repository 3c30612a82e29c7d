import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * Files that have been run in this way. They share their worker's modules, because loading the server for each one takes
 * a third of its CPU time; test/helpers/setup-file.ts gives each a clean start. A file that changes its process, or
 * measures it, keeps a process of its own.
 */
const IN_SHARED_PROCESS = [
  'test/cli/administration-on-database.test.ts',
  'test/cli/administration-through-server.test.ts',
  'test/cli/backup-restore.test.ts',
  'test/cli/bad-input.test.ts',
  'test/cli/command-failure.test.ts',
  'test/cli/completion.test.ts',
  'test/cli/confirmation.test.ts',
  'test/cli/doctor-checks.test.ts',
  'test/cli/machine-fingerprint.test.ts',
  'test/cli/manual.test.ts',
  'test/cli/missing-directory.test.ts',
  'test/cli/offline-request.test.ts',
  'test/cli/option-values.test.ts',
  'test/cli/parity.test.ts',
  'test/cli/serve.test.ts',
  'test/cli/service-definitions.test.ts',
  'test/cli/service.test.ts',
  'test/cli/spawned-commands.test.ts',
  'test/cli/text-layout.test.ts',
  'test/cli/usage.test.ts',
  'test/cli/verify.test.ts',
  'test/server/activation.test.ts',
  'test/server/admin-listener.test.ts',
  'test/server/api-tokens.test.ts',
  'test/server/audit.test.ts',
  'test/server/authorization-tokens.test.ts',
  'test/server/distrust.test.ts',
  'test/server/idempotency.test.ts',
  'test/server/license-import.test.ts',
  'test/server/license-scan.test.ts',
  'test/server/licenses-api.test.ts',
  'test/server/offline-desk.test.ts',
  'test/server/openapi.test.ts',
  'test/server/plans-api.test.ts',
  'test/server/rate-limit.test.ts',
  'test/server/renew-upgrade.test.ts',
  'test/server/retention.test.ts',
  'test/server/settings-api.test.ts',
  'test/server/settings.test.ts',
  'test/server/stats-api.test.ts',
  'test/server/validate-offline.test.ts',
  'test/verifier/verify-license-file.test.ts',
];

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
    maxWorkers: 2,
    // Hundreds of servers and commands are started, each on a data directory of its own: what Node has compiled for
    // one of them it need not compile for the next, which halves its start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'compiled') },
    // A last fence: the helpers bound each command, start and stop, and name the one that hangs.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    globalSetup: ['test/helpers/ensure-build.ts'],
    projects: [
      { extends: true, test: { name: 'shared', isolate: false, include: IN_SHARED_PROCESS } },
      { extends: true, test: { name: 'own', include: ['test/**/*.test.ts'], exclude: IN_SHARED_PROCESS } },
    ],
  },
});
