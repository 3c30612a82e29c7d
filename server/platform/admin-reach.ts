// Where the admin listener listens: always on loopback, and on one more address only where a proxy serves the back office.
import { ConfigError, type SettingValues } from './config.ts';
import { isLoopback } from './loopback.ts';
import { SETTINGS } from './settings.ts';
import { listensOn } from './wildcard-host.ts';

const LOOPBACK = '127.0.0.1';

/** All addresses to listen on. A wildcard includes loopback. */
export function adminHosts(adminHost: string): string[] {
  const includesLoopback = adminHost === LOOPBACK || listensOn(adminHost) !== 'one';
  return includesLoopback ? [adminHost] : [LOOPBACK, adminHost];
}

/**
 * The back office must not be opened to the network by accident.
 * @throws ConfigError
 */
export function requireAdminUrl({
  adminHost,
  adminUrl,
}: Pick<SettingValues, 'adminHost' | 'adminUrl'>): void {
  if (isLoopback(adminHost) || adminUrl?.startsWith('https:')) return;
  throw new ConfigError(
    `--${SETTINGS.adminHost.flag} is "${adminHost}", which opens the back office to the network, but ` +
      `--${SETTINGS.adminUrl.flag} is ${adminUrl === null ? 'not set' : `"${adminUrl}"`}; set it to the https address at ` +
      `which a reverse proxy serves the back office, or --${SETTINGS.adminHost.flag} to ${LOOPBACK}`,
    { rule: { reason: 'https_url_required', values: { address: adminHost } } },
  );
}
