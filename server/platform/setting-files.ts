// Whether the files that settings name can be used, and settings that need each other are complete. Every start, `settings set`, `server restart` and `doctor` ask here.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { requireAdminUrl } from './admin-reach.ts';
import { requireBackupSettings } from './backup-folder.ts';
import { ConfigError, type SettingName, type SettingValues } from './config.ts';
import { readDatabaseUrl, readReplicaUrl } from './database-url.ts';
import { pathRule } from './rule-error.ts';
import { SETTINGS } from './settings.ts';

interface FileCheck {
  /** The settings that the check is about. */
  names: SettingName[];
  /** @throws ConfigError */
  check(values: SettingValues): Promise<void>;
}

async function checkTlsFiles({ tls }: SettingValues): Promise<void> {
  if (tls.mode !== 'files') return;
  // Most servers never need what this loads.
  const { readTlsFiles } = await import('./tls-files.ts');
  await readTlsFiles(tls);
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/gu;

/** @throws ConfigError */
export async function checkWebhookCa({ webhookCa: file }: Pick<SettingValues, 'webhookCa'>): Promise<void> {
  if (file === null) return;
  const refuse = (error: unknown, rule = pathRule(error, file)) =>
    new ConfigError(
      `--${SETTINGS.webhookCa.flag} is ${JSON.stringify(file)}, but must be a readable PEM file of CA certificates: ` +
        (error as Error).message,
      { rule },
    );
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw refuse(error);
  });
  const certificates = text.match(PEM_CERTIFICATE);
  if (!certificates)
    throw refuse(new Error('it contains no certificate'), {
      reason: 'no_certificate',
      values: { path: file },
    });
  try {
    // All of them: a webhook fails on the one that cannot be read.
    for (const certificate of certificates) void new X509Certificate(certificate);
  } catch (error) {
    throw refuse(error, { reason: 'unreadable_certificate' });
  }
}

export const FILE_CHECKS: readonly FileCheck[] = [
  { names: ['tls'], check: checkTlsFiles },
  { names: ['webhookCa'], check: checkWebhookCa },
  { names: ['databaseUrl', 'databaseUrlFile'], check: async (values) => void readDatabaseUrl(values) },
  {
    names: ['replicaDatabaseUrl', 'replicaDatabaseUrlFile'],
    check: async (values) => void readReplicaUrl(values),
  },
  {
    names: ['backupSchedule', 'backupFolder', 'backupPassphraseFile'],
    check: async (values) => requireBackupSettings(values),
  },
  { names: ['adminHost', 'adminUrl'], check: async (values) => requireAdminUrl(values) },
];

/** @throws ConfigError for the first file that cannot be used */
export async function requireUsableFiles(values: SettingValues): Promise<void> {
  for (const { check } of FILE_CHECKS) await check(values);
}
