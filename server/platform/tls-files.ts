// TLS with two PEM files that are renewed externally: by an administrator, certbot or a configuration tool.
import { readFile } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import { ConfigError } from './config.ts';
import type { Logger } from './logger.ts';
import { pathRule, ruleOfError } from './rule-error.ts';
import type { TlsSetting } from './setting-values.ts';
import { checkCredentials, keepCredentials, type TlsCredentials, type TlsSource } from './tls-credentials.ts';

type TlsFiles = TlsSetting & { mode: 'files' };

/**
 * @returns the contents of the two files, which match
 * @throws ConfigError
 */
export async function readTlsFiles(files: TlsFiles): Promise<TlsCredentials> {
  try {
    const credentials = await readBoth(files);
    checkCredentials(credentials);
    return credentials;
  } catch (error) {
    const { message, path } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `--tls is "${settingOf(files)}", but must be two readable PEM files that belong together: ${message}`,
      { rule: path === undefined ? ruleOfError(error) : pathRule(error, path) },
    );
  }
}

/**
 * Rereads the files and compares their contents. This works however they are replaced: by links, renames, several
 * writes or mounts.
 * @throws ConfigError if they are unusable at the start
 */
export async function openTlsFiles(
  files: TlsFiles,
  needs: { clock: Clock; logger: Logger },
): Promise<TlsSource> {
  return keepCredentials({
    ...needs,
    setting: settingOf(files),
    first: await readTlsFiles(files),
    async look(inUse) {
      const found = await readBoth(files);
      return found.certificate === inUse.certificate && found.key === inUse.key ? null : found;
    },
  });
}

function settingOf({ certificate, key }: TlsFiles): string {
  return `${certificate},${key}`;
}

async function readBoth(files: TlsFiles): Promise<TlsCredentials> {
  const [certificate, key] = await Promise.all([
    readFile(files.certificate, 'utf8'),
    readFile(files.key, 'utf8'),
  ]);
  return { certificate, key };
}
