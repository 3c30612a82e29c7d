// The daily backup: says when it is due, records what came of it, and raises alerts.
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { BackupSettings } from '#server/platform/backup-folder.ts';
import { type Call, directCall } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Logger } from '#server/platform/logger.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { BackedUp, CopyDatabase } from './backup-archive.ts';
import {
  type DownloadRecord,
  type FolderRecord,
  readDownloadRecord,
  readFolderRecord,
  writeDownloadRecord,
} from './backup-records.ts';
import { daysWithout, nextBackupAt } from './backup-schedule.ts';
import type { BackupStatus } from './backup-status-contract.ts';
import type { FolderBackupResult } from './folder-backup.ts';

interface Needs {
  settings: BackupSettings;
  installation: BackedUp;
  /** Epoch milliseconds. */
  installedAt: number;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  logger: Logger;
  alerts: Pick<AlertBoard, 'raise' | 'clear'>;
  /** Runs the job, whose result goes to `onResult`; null without jobs. */
  job: { run(): void; isRunning(): boolean } | null;
  copyDatabase: CopyDatabase;
  onChanged(): void;
}

const BY_SCHEDULE = directCall({ kind: 'system', name: 'backup' });
/** Without a backup for longer than this, the administrator is reminded. */
const REMIND_AFTER_DAYS = 7;

/** @returns the one that was made last; null if there is none */
export function lastBackup(
  { succeeded }: Pick<FolderRecord, 'succeeded'>,
  downloaded: DownloadRecord | null,
): NonNullable<BackupStatus['last']> | null {
  const inFolder = succeeded && { ...succeeded, path: succeeded.path };
  const elsewhere = downloaded && { ...downloaded, path: null };
  const last = (inFolder?.at ?? -Infinity) >= (elsewhere?.at ?? -Infinity) ? inFolder : elsewhere;
  return last && { at: toTimestamp(last.at), bytes: last.bytes, encrypted: last.encrypted, path: last.path };
}

export function createBackupStatusService(needs: Needs) {
  const { settings, installation, audit, transaction, clock, logger, alerts, job } = needs;
  const { dataDir, backupSchedule: schedule, backupHour: hour, backupFolder: folder } = settings;
  let record = readFolderRecord(dataDir);
  let downloaded = readDownloadRecord(dataDir);
  let waiting: { call: Call; onResult: ((result: FolderBackupResult) => void)[] } | null = null;

  const isDaily = schedule === 'daily';
  const nextAt = (now: number) =>
    nextBackupAt(now, hour, { succeededAt: record.succeeded?.at ?? null, failed: record.failed });

  function showAlerts(): void {
    const { failed } = record;
    if (failed !== null && isDaily)
      alerts.raise('backup_failed', {
        params: { problem: failed.problem, folder: folder ?? '', data_dir: dataDir },
      });
    else alerts.clear('backup_failed');
    const last = lastBackup(record, downloaded);
    const days = daysWithout(last ? Date.parse(last.at) : needs.installedAt, clock.now());
    const isLate = schedule !== 'external' && days > REMIND_AFTER_DAYS;
    if (isLate && last) alerts.raise('backup_overdue', { params: { days } });
    else alerts.clear('backup_overdue');
    if (isLate && !last) alerts.raise('backup_missing');
    else alerts.clear('backup_missing');
  }

  /** An earlier failure in a row has its entry already. */
  async function auditResult(result: FolderBackupResult, before: FolderRecord, call: Call): Promise<void> {
    if (result.outcome === 'done') {
      const { path, bytes, encrypted } = result.file;
      const after = { file: path, bytes, encrypted, removed: result.removed };
      await transaction(() => audit.record(call, 'backup.made', 'backup', null, after));
    } else if (result.outcome === 'failed' && before.failed?.problem !== result.problem) {
      const { problem, message } = result;
      await transaction(() => audit.record(call, 'backup.failed', 'backup', null, { problem, message }));
    }
  }

  function note(result: FolderBackupResult): void {
    const attempts = (record.failed?.attempts ?? 0) + 1;
    record = readFolderRecord(dataDir);
    if (result.outcome === 'done') {
      const { file, removed } = result;
      logger.info({ file: file.path, bytes: file.bytes, removed }, 'backup written and verified');
    } else if (result.outcome === 'failed') {
      const { problem, message } = result;
      logger.error({ problem, attempts }, `backup failed: ${message}`);
      // Where the data directory is full, the record is not what it should be.
      if (record.failed?.attempts !== attempts)
        record.failed = { at: clock.now(), attempts, problem, message };
    }
    showAlerts();
  }

  async function onResult(result: FolderBackupResult): Promise<void> {
    const before = record;
    const asked = waiting;
    waiting = null;
    note(result);
    await auditResult(result, before, asked?.call ?? BY_SCHEDULE).catch((error: unknown) => {
      logger.error({ err: error as Error }, 'the backup is missing from the audit log');
    });
    for (const answer of asked?.onResult ?? []) answer(result);
    needs.onChanged();
  }

  async function runHere(found: BackedUp, into: string): Promise<FolderBackupResult> {
    const { backUpToFolder } = await import('./folder-backup.ts');
    return backUpToFolder({
      installation: found,
      folder: into,
      keep: settings.backupKeep,
      passphraseFile: settings.backupPassphraseFile,
      copyDatabase: needs.copyDatabase,
      now: clock.now,
      signal: new AbortController().signal,
    });
  }

  /** Callers during a backup wait for the same one. */
  function backUp(found: BackedUp, into: string, call: Call): Promise<FolderBackupResult> {
    return new Promise((resolve, reject) => {
      if (waiting) {
        waiting.onResult.push(resolve);
        return;
      }
      waiting = { call, onResult: [resolve] };
      if (job) job.run();
      else runHere(found, into).then(onResult).catch(reject);
    });
  }

  function show(): BackupStatus {
    const { failed } = record;
    const now = clock.now();
    return {
      schedule,
      hour,
      time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      folder,
      keep: settings.backupKeep,
      encrypted: settings.backupPassphraseFile !== null,
      running: waiting !== null || (job?.isRunning() ?? false),
      next_at: isDaily ? toTimestamp(Math.max(now, nextAt(now))) : null,
      last: lastBackup(record, downloaded),
      failure: failed && { ...failed, at: toTimestamp(failed.at) },
    };
  }

  return {
    show,

    /** @throws ApiError `unavailable` with the reason if the backup fails */
    async run(call: Call): Promise<BackupStatus> {
      if (folder === null)
        throw new ApiError(
          'invalid_request',
          'backup_folder is not set; set it to a folder on another disk, and restart the server',
        );
      const done = await backUp(installation, folder, call);
      if (done.outcome === 'failed') throw new ApiError('unavailable', done.message);
      if (done.outcome === 'cancelled') throw new ApiError('unavailable', 'the server is stopping');
      return show();
    },

    /** For the job: its worker, and its schedule. */
    job: {
      workerData:
        folder !== null
          ? {
              installation,
              folder,
              keep: settings.backupKeep,
              passphraseFile: settings.backupPassphraseFile,
            }
          : null,
      isDue(): boolean {
        showAlerts();
        const now = clock.now();
        return isDaily && nextAt(now) <= now;
      },
      onResult: (outcome: FolderBackupResult) => void onResult(outcome),
    },

    showAlerts,

    noteDownload(download: DownloadRecord): void {
      downloaded = download;
      try {
        writeDownloadRecord(dataDir, download);
      } catch (error) {
        logger.warn({ err: error as Error }, 'the time of the backup could not be saved');
      }
      showAlerts();
      needs.onChanged();
    },
  };
}

export type BackupStatusService = ReturnType<typeof createBackupStatusService>;
