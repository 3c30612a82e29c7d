// What `license-desk doctor` looks at inside a data directory. Nothing is created or changed, a running server not disturbed.
import { X509Certificate } from 'node:crypto';
import { readSealedCertificate } from '#server/features/certificates/server-certificate-file.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { checkIntegrity } from '#server/database/check-integrity.ts';
import { connect, type Database, type DatabaseLocation } from '#server/database/connect.ts';
import { isEmptyDatabase, pendingMigrations } from '#server/database/migrate.ts';
import { aboutDatabase } from '#server/database/unusable-database.ts';
import { hasHadDatabase, isFileMissing, lostDatabase } from '#server/installation/installation.ts';
import { judgeCertificate } from '#server/platform/certificate-life.ts';
import { type Config, ConfigError } from '#server/platform/config.ts';
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
  if (rows.length === 0) return 'no signing key yet; the first start makes one';
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

/** Nothing about it is a fault, as a server that runs makes another when it has to. */
async function lookAtOwnCertificate(dataDir: string): Promise<string> {
  try {
    const kept = readSealedCertificate(dataDir);
    if (kept === null) return 'no certificate yet; the next start makes it';
    const { ok, detail } = judgeCertificate(new X509Certificate(kept.certificate), Date.now());
    return ok ? detail : `${detail}; the next start makes another`;
  } catch (error) {
    return `warning: ${(error as Error).message}; the next start makes another certificate`;
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

/** Each finding in words for an administrator; a database that is not there yet is no fault. */
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
  ];
}

async function lookAtDatabase(location: DatabaseLocation, config: Config): Promise<Finding[]> {
  const mustExist = hasHadDatabase(config.dataDir, location);
  const lost = lostDatabase(config.dataDir, location);
  if (isFileMissing(location)) {
    if (mustExist) return [failed(location, 'database', lost)];
    return [{ check: 'database', ok: true, detail: 'none yet; the first start makes it' }];
  }
  let sequelize: Database;
  try {
    sequelize = await connect(location);
  } catch (error) {
    return [failed(location, 'database', error)];
  }
  try {
    // What cannot be read is found damaged below.
    if (mustExist && (await isEmptyDatabase(sequelize).catch(() => false)))
      return [failed(location, 'database', lost)];
    return [
      await finding(location, 'database', () => checkIntegrity(sequelize)),
      await finding(location, 'migrations', () => lookAtMigrations(sequelize)),
      await finding(location, 'keys', () => lookAtKeys(sequelize, config)),
    ];
  } finally {
    await sequelize.close();
  }
}
