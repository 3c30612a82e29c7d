import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { problemOfPlace } from '#server/installation/directory-path.ts';
import { requireAdminUrl } from '#server/platform/admin-reach.ts';
import { ConfigError, type Config } from '#server/platform/config.ts';
import { settingWarnings } from '#server/platform/setting-warnings.ts';
import { readDiskSpace } from '#server/features/storage/disk-space.ts';
import { printing } from '../command-action.ts';
import { CommandFailure } from '../command-failure.ts';
import {
  checkClock,
  checkDataDirectory,
  checkDiskSpace,
  checkLicenseKeys,
  checkNodeVersion,
  checkPermissions,
  type Check,
  type DirectoryFacts,
} from '../doctor-checks.ts';
import { NODE_RANGE } from '../node-version.ts';
import { configOf } from '../setting-options.ts';
import { table } from '../text-layout.ts';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check the installation without changing anything')
    .action(
      printing(async (_options: unknown, command: Command) => {
        const checks = [
          checkNodeVersion(process.version, NODE_RANGE),
          checkClock(Date.now()),
          checkLicenseKeys(),
          ...(await checkInstallation(command)),
        ];
        const text = checksText(checks);
        const failed = checks.filter(({ ok }) => !ok).map(({ check }) => check);
        if (failed.length === 0) return { reply: { checks }, text };
        const message = `${failed.length} of ${checks.length} checks failed: ${failed.join(', ')}`;
        throw new CommandFailure('unavailable', message, { report: { fields: { checks }, text } });
      }),
    );
}

/** Each step depends on the one before. */
async function checkInstallation(command: Command): Promise<Check[]> {
  let config: Config;
  try {
    config = configOf(command);
    requireAdminUrl(config);
  } catch (error) {
    if (error instanceof ConfigError) return [{ check: 'config', ok: false, detail: error.message }];
    throw error;
  }
  const directory = await directoryFacts(config.dataDir);
  const checks = [
    { check: 'config', ok: true, detail: 'every setting is valid' },
    ...settingWarnings(config).map(({ message }) => ({
      check: 'settings',
      ok: true,
      detail: `warning: ${message}`,
    })),
    checkDataDirectory(config.dataDir, directory, problemOfPlace(config.dataDir)),
  ];
  if (!directory?.isDirectory) return checks;
  const [{ checkServer }, { diagnose }] = await Promise.all([
    import('../check-server.ts'),
    import('#server/process/diagnose.ts'),
  ]);
  return [
    ...checks,
    await permissions(config),
    checkDiskSpace(await readDiskSpace(config.dataDir)),
    ...(await checkServer(config.dataDir)),
    ...(await diagnose(config)),
  ];
}

async function permissions(config: Config): Promise<Check> {
  const { exposedOnAnyPlatform } = await import('#server/installation/exposed-files.ts');
  try {
    return checkPermissions(await exposedOnAnyPlatform(config));
  } catch (error) {
    const { message } = error as Error;
    return {
      check: 'permissions',
      ok: true,
      detail: `warning: Windows does not tell who has access: ${message}`,
    };
  }
}

async function directoryFacts(path: string): Promise<DirectoryFacts | null> {
  try {
    const stats = await stat(path);
    const writable = await access(path, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    );
    return {
      isDirectory: stats.isDirectory(),
      writable,
      mode: process.platform === 'win32' ? null : stats.mode,
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function checksText(checks: readonly Check[]): string {
  return table(
    [
      { title: 'CHECK', value: ({ check }) => check },
      { title: 'RESULT', value: ({ ok }) => (ok ? 'ok' : 'FAILED') },
      { title: 'DETAIL', value: ({ detail }) => detail },
    ],
    checks,
  );
}
