// TLS from two PEM files that somebody else renews: an administrator, certbot, a configuration tool.
import { readFile } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import { ConfigError } from './config.ts';
import type { Logger } from './logger.ts';
import type { TlsSetting } from './setting-values.ts';
import { checkCredentials, keepCredentials, type TlsCredentials, type TlsSource } from './tls-credentials.ts';

type TlsFiles = TlsSetting & { mode: 'files' };

/**
 * @returns what the two files hold, which fits together
 * @throws ConfigError
 */
export async function readTlsFiles(files: TlsFiles): Promise<TlsCredentials> {
  try {
    const credentials = await readBoth(files);
    checkCredentials(credentials);
    return credentials;
  } catch (error) {
    const reason = (error as Error).message;
    throw new ConfigError(
      `--tls is "${settingOf(files)}", but must be two readable PEM files that belong together: ${reason}`,
    );
  }
}

/**
 * They are read again and again, and compared by content: links are put in place of others, files are renamed, written
 * in two steps or mounted from elsewhere, and none of that can be missed this way.
 * @throws ConfigError if they cannot be used to begin with
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
