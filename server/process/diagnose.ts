// The checks of `license-desk doctor` on a data directory. They create and change nothing, and do not disturb a running
// server.
import { X509Certificate } from 'node:crypto';
import {
  mayCreateFolder,
  readDownloadRecord,
  readFolderRecord,
} from '#server/features/backup/backup-records.ts';
import { lastBackup } from '#server/features/backup/backup-status-service.ts';
import { readSealedCertificate } from '#server/features/certificates/server-certificate-file.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { checkIntegrity } from '#server/database/check-integrity.ts';
import {
  connect,
  createPostgresPool,
  type Database,
  type DatabaseLocation,
} from '#server/database/connect.ts';
import { isEmptyDatabase, pendingMigrations, SCHEMA } from '#server/database/migrate.ts';
import { queryPostgres } from '#server/database/postgres-statements.ts';
import { type AskPostgres, findReplicaProblem, REPLICA_MESSAGES } from '#server/database/replica-state.ts';
import { aboutDatabase } from '#server/database/unusable-database.ts';
import { hasIncoming } from '#server/installation/database-move.ts';
import {
  hasHadDatabase,
  isFileMissing,
  lostDatabase,
  missingSetting,
} from '#server/installation/installation.ts';
import { readBackupPassphrase, requireBackupFolder } from '#server/platform/backup-folder.ts';
import { judgeCertificate } from '#server/platform/certificate-life.ts';
import { type Config, ConfigError } from '#server/platform/config.ts';
import { readReplicaUrl } from '#server/platform/database-url.ts';
import { loadMasterKey } from '#server/platform/master-key.ts';
import { maskPasswords } from '#server/platform/mask-passwords.ts';
import { createSealer } from '#server/platform/sealer.ts';
import { checkWebhookCa } from '#server/platform/setting-files.ts';
import type { TlsSetting } from '#server/platform/setting-values.ts';
import { readTlsFiles } from '#server/platform/tls-files.ts';
import { createSigningKeyStore } from '#server/features/signing/signing-key-store.ts';
import { openSigningKey } from '#server/features/signing/loaded-keys.ts';

export interface Finding {
  check: string;
  ok: boolean;
  detail: string;
}

function failed(location: DatabaseLocation, check: string, error: unknown): Finding {
  return { check, ok: false, detail: maskPasswords((aboutDatabase(error, location) as Error).message) };
}

async function finding(
  location: DatabaseLocation,
  check: string,
  look: () => Promise<string>,
): Promise<Finding> {
  try {
    return { check, ok: true, detail: await look() };
  } catch (error) {
    return failed(location, check, error);
  }
}

async function lookAtMigrations(sequelize: Database): Promise<string> {
  const pending = await pendingMigrations(sequelize);
  return pending.length === 0 ? 'up to date' : `the next start will apply ${pending.join(', ')}`;
}

async function lookAtKeys(sequelize: Database, config: Config): Promise<string> {
  const rows = await createSigningKeyStore(sequelize).list();
  if (rows.length === 0) return 'no signing key yet; the first start creates one';
  const sealer = createSealer(loadMasterKey(config.dataDir, config.masterKey, false));
  for (const row of rows) openSigningKey(sealer, row);
  return `the master key opens ${rows.length === 1 ? 'the signing key' : `all ${rows.length} signing keys`}`;
}

async function lookAtTlsFiles(files: TlsSetting & { mode: 'files' }): Promise<string> {
  const { certificate } = await readTlsFiles(files);
  const { ok, detail } = judgeCertificate(new X509Certificate(certificate), Date.now());
  if (!ok) throw new Error(detail);
  return detail;
}

function askOn(pool: Database): AskPostgres {
  return async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await queryPostgres(pool, { text, values, name: undefined }, false)).rows as Row[];
}

async function lookAtReplica(
  sequelize: Database,
  location: DatabaseLocation,
  config: Config,
): Promise<Finding[]> {
  const check = 'replica';
  let url: string | null;
  try {
    url = readReplicaUrl(config);
  } catch (error) {
    return [failed(location, check, error)];
  }
  if (url === null) return [];
  if (location.url === null)
    return [{ check, ok: true, detail: 'warning: not used, because the database is SQLite' }];
  const { host, pathname } = new URL(url);
  const pool = await createPostgresPool(url);
  try {
    const problem = await findReplicaProblem({ primary: askOn(sequelize), replica: askOn(pool) }, SCHEMA);
    if (problem === null) return [{ check, ok: true, detail: `${host}${pathname} follows the database` }];
    return [{ check, ok: false, detail: REPLICA_MESSAGES[problem] }];
  } catch (error) {
    const { message } = error as Error;
    return [{ check, ok: false, detail: maskPasswords(`${host}${pathname} cannot be read: ${message}`) }];
  } finally {
    await pool.close();
  }
}

/** Only warnings, because a running server issues another certificate when needed. */
async function lookAtOwnCertificate(dataDir: string): Promise<string> {
  try {
    const kept = readSealedCertificate(dataDir);
    if (kept === null) return 'no certificate yet; the next start issues one';
    const { ok, detail } = judgeCertificate(new X509Certificate(kept.certificate), Date.now());
    return ok ? detail : `${detail}; the next start issues another`;
  } catch (error) {
    return `warning: ${(error as Error).message}; the next start issues another certificate`;
  }
}

async function lookAtTls(location: DatabaseLocation, { tls, dataDir }: Config): Promise<Finding[]> {
  if (tls.mode === 'off') return [];
  const look = () => (tls.mode === 'files' ? lookAtTlsFiles(tls) : lookAtOwnCertificate(dataDir));
  return [await finding(location, 'tls', look)];
}

async function lookAtWebhookCa(location: DatabaseLocation, { webhookCa }: Config): Promise<Finding[]> {
  if (webhookCa === null) return [];
  const look = async () => {
    await checkWebhookCa({ webhookCa });
    return `${webhookCa} contains certificates`;
  };
  return [await finding(location, 'webhook_ca', look)];
}

/** A folder that cannot be written makes the next backup fail. */
async function lookAtBackups(config: Config): Promise<Finding[]> {
  const check = 'backup';
  const { backupSchedule: schedule, backupFolder: folder, backupPassphraseFile, dataDir } = config;
  const record = readFolderRecord(dataDir);
  const last = lastBackup(record, readDownloadRecord(dataDir));
  const lastText = last ? `last backup ${last.at}` : 'no backup yet';
  if (schedule !== 'daily') {
    const isCovered = last !== null || schedule === 'external';
    return [{ check, ok: true, detail: `${isCovered ? '' : 'warning: '}${lastText}; no daily schedule` }];
  }
  try {
    if (folder !== null) await requireBackupFolder(folder, mayCreateFolder(record, folder));
    await readBackupPassphrase(backupPassphraseFile);
    if (record.failed) throw new Error(`the last daily backup failed: ${record.failed.message}`);
    return [{ check, ok: true, detail: `${lastText}, daily to ${folder}` }];
  } catch (error) {
    return [{ check, ok: false, detail: `${(error as Error).message}; ${lastText}` }];
  }
}

/** Returns findings for the administrator. A missing database is not a fault if none is expected. */
export async function diagnose(config: Config): Promise<Finding[]> {
  let location: DatabaseLocation;
  try {
    location = databaseLocation(config);
  } catch (error) {
    if (error instanceof ConfigError) return [{ check: 'database', ok: false, detail: error.message }];
    throw error;
  }
  return [
    ...(await lookAtTls(location, config)),
    ...(await lookAtWebhookCa(location, config)),
    ...(await lookAtDatabase(location, config)),
    ...(await lookAtBackups(config)),
  ];
}

async function lookAtDatabase(location: DatabaseLocation, config: Config): Promise<Finding[]> {
  const { dataDir } = config;
  const mustExist = hasHadDatabase(dataDir, location);
  const lost = lostDatabase(dataDir, location);
  const isMissing = isFileMissing(location);
  if (isMissing && hasIncoming(dataDir, location))
    return [{ check: 'database', ok: true, detail: 'the next start completes its move' }];
  const problem = missingSetting(dataDir, location) ?? (isMissing && mustExist ? lost : null);
  if (problem) return [failed(location, 'database', problem)];
  if (isMissing) return [{ check: 'database', ok: true, detail: 'none yet; the first start creates it' }];
  let sequelize: Database;
  try {
    sequelize = await connect(location);
  } catch (error) {
    return [failed(location, 'database', error)];
  }
  try {
    // Read errors are reported as damage below.
    if (mustExist && (await isEmptyDatabase(sequelize).catch(() => false)))
      return [failed(location, 'database', lost)];
    return [
      await finding(location, 'database', () => checkIntegrity(sequelize)),
      await finding(location, 'migrations', () => lookAtMigrations(sequelize)),
      await finding(location, 'keys', () => lookAtKeys(sequelize, config)),
      ...(await lookAtReplica(sequelize, location, config)),
    ];
  } finally {
    await sequelize.close();
  }
}
