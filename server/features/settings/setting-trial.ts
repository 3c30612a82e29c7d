// Checks whether the next start could use changed settings: files, addresses, the database.
import { createServer } from 'node:net';
import { isAbsolute } from 'node:path';
import { adminHosts } from '#server/platform/admin-reach.ts';
import { readBackupPassphrase, tryBackupFolder } from '#server/platform/backup-folder.ts';
import type { SettingName, SettingValues } from '#server/platform/config.ts';
import { readReplicaUrl } from '#server/platform/database-url.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { missingSetting } from '#server/installation/installation.ts';
import type { ErrorDetail } from '#server/wire/errors.ts';
import { type BrokenRule, type NamedRule, sentenceOf } from '#server/wire/field-rules.ts';
import type { RuleValues } from '#server/wire/rule-values.ts';
import { maskPasswords } from '#server/platform/mask-passwords.ts';
import { RuleError, ruleOfError } from '#server/platform/rule-error.ts';
import { FILE_CHECKS } from '#server/platform/setting-files.ts';
import { settingKey, SETTINGS } from '#server/platform/settings.ts';
import type { TlsSetting } from '#server/platform/setting-values.ts';

type Trial = [names: SettingName[], trial: () => Promise<unknown>];

export interface TrialNeeds {
  /** Ports that this server uses now and releases before the next start. */
  ownPorts(): readonly number[];
  /** @throws Error if the database cannot be used */
  tryDatabase(url: string): Promise<void>;
}

function listenRule(code: string | undefined, host: string, port: number): NamedRule {
  const address = `${host}:${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return { reason: 'address_in_use', values: { address } };
    case 'EADDRNOTAVAIL':
      return { reason: 'address_not_local', values: { address: host } };
    case 'EACCES':
      return { reason: 'address_not_permitted', values: { address } };
    default:
      return { reason: 'address_unusable', values: { address, code } };
  }
}

/** @throws RuleError if the server cannot listen on the address */
function tryAddress(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const why = code === 'EADDRINUSE' ? 'another program is using it' : message;
      reject(new RuleError(`cannot listen on ${host}:${port}: ${why}`, listenRule(code, host, port)));
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}

async function tryAddresses(hosts: readonly string[], port: number): Promise<void> {
  for (const host of hosts) await tryAddress(host, port);
}

/** The server's next start may have a different working directory. */
function requireAbsolute(path: string): void {
  if (!isAbsolute(path))
    throw new RuleError(`${path} must be an absolute path`, { reason: 'not_an_absolute_path' });
}

function requireAbsoluteTls(tls: TlsSetting): void {
  if (tls.mode !== 'files') return;
  requireAbsolute(tls.certificate);
  requireAbsolute(tls.key);
}

/** The rule that the error names, without passwords. */
export function brokenRule(error: Error): BrokenRule {
  const { reason, values } = ruleOfError(error) ?? {};
  const masked = Object.entries(values ?? {}).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' ? maskPasswords(value) : value,
  ]);
  return {
    message: maskPasswords(error.message),
    reason,
    values: masked.length > 0 ? (Object.fromEntries(masked) as RuleValues) : undefined,
  };
}

/**
 * @param next settings of the next start
 * @param changed the changed ones
 * @returns the problems found
 */
export async function tryOut(
  next: SettingValues,
  changed: ReadonlySet<SettingName>,
  { ownPorts, tryDatabase }: TrialNeeds,
): Promise<ErrorDetail[]> {
  // This server's own ports will be free by then, so any free port is tried instead.
  const portToTry = (port: number) => (ownPorts().includes(port) ? 0 : port);
  const trials: Trial[] = [
    [['host', 'port'], () => tryAddress(next.host, portToTry(next.port))],
    [['adminHost', 'adminPort'], () => tryAddresses(adminHosts(next.adminHost), portToTry(next.adminPort))],
    [['adminPort', 'port'], async () => refuseSamePort(next)],
    [['tls'], async () => requireAbsoluteTls(next.tls)],
    ...FILE_CHECKS.map(({ names, check }): Trial => [names, () => check(next)]),
    [['backupFolder', 'backupSchedule'], () => tryFolder(next.backupFolder)],
    [['backupPassphraseFile', 'backupSchedule'], () => readBackupPassphrase(next.backupPassphraseFile)],
    [['databaseUrl', 'databaseUrlFile'], () => tryDatabaseOf(next, tryDatabase)],
    [['replicaDatabaseUrl', 'replicaDatabaseUrlFile'], () => tryUrl(readReplicaUrl(next), tryDatabase)],
  ];
  const details: ErrorDetail[] = [];
  const failed = new Set<SettingName>();
  for (const [names, trial] of trials) {
    const named = names.find((name) => changed.has(name));
    // One message for each setting: what cannot be read cannot be connected to either.
    if (named === undefined || failed.has(named)) continue;
    try {
      await trial();
    } catch (error) {
      failed.add(named);
      details.push({ path: settingKey(SETTINGS[named]), ...brokenRule(error as Error) });
    }
  }
  return details;
}

async function tryDatabaseOf(next: SettingValues, tryDatabase: TrialNeeds['tryDatabase']): Promise<void> {
  const location = databaseLocation(next);
  const problem = missingSetting(next.dataDir, location);
  if (problem) throw problem;
  await tryUrl(location.url, tryDatabase);
}

async function tryUrl(url: string | null, tryDatabase: TrialNeeds['tryDatabase']): Promise<void> {
  if (url !== null) await tryDatabase(url);
}

async function tryFolder(folder: string | null): Promise<void> {
  if (folder !== null) await tryBackupFolder(folder);
}

function refuseSamePort({ port, adminPort }: SettingValues): void {
  if (port !== 0 && port === adminPort) throw new RuleError(sentenceOf('same_port'), { reason: 'same_port' });
}
