// Creates backups while the server runs: first a copy of the database, then the archive as fast as the client reads it.
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { removeWhenFreeLater } from '#server/platform/busy-files.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { Document, type DocumentParts } from '#server/platform/document.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { BackedUp, CopyDatabase } from './backup-archive.ts';
import { ENCRYPTED_TYPE, TAR_TYPE } from './backup-contract.ts';
import type { DownloadRecord } from './backup-records.ts';
import { copyFile } from './data-files.ts';

interface Needs {
  installation: BackedUp;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  copyDatabase: CopyDatabase;
  /** Called when a client has received a whole backup. */
  onDownloaded(record: DownloadRecord): void;
}

export function createBackupService(needs: Needs) {
  const { installation, audit, transaction, clock } = needs;
  const closing = new AbortController();
  let isBusy = false;

  async function makeCopy(found: BackedUp, copy: string): Promise<void> {
    // Loaded on demand, to keep the start fast.
    const { copyForBackup, NoSpaceError } = await import('./backup-archive.ts');
    try {
      await copyForBackup(found, needs.copyDatabase, copy, closing.signal);
    } catch (error) {
      if (closing.signal.aborted) throw new ApiError('unavailable', 'the server is stopping');
      throw error instanceof NoSpaceError ? new ApiError('unavailable', error.message) : error;
    }
  }

  /**
   * Sends the last part only after the copy is removed, so that a client that has all of it can request another backup.
   */
  async function* thenRemove(parts: DocumentParts, copy: string, record: DownloadRecord): DocumentParts {
    let last: string | Uint8Array | undefined;
    try {
      for await (const part of parts) {
        if (last !== undefined) yield last;
        last = part;
      }
    } finally {
      await finish(copy);
    }
    if (last !== undefined) yield last;
    needs.onDownloaded(record);
  }

  async function finish(copy: string): Promise<void> {
    try {
      await removeWhenFreeLater(copy);
    } finally {
      isBusy = false;
    }
  }

  async function begin(found: BackedUp, copy: string, passphrase: string | null): Promise<Document> {
    const now = clock.now();
    await makeCopy(found, copy);
    const { archiveOf, backupFileName } = await import('./backup-archive.ts');
    const { content, size } = await archiveOf(found, { copy, passphrase, now });
    const encrypted = passphrase !== null;
    const parts = thenRemove(content, copy, { at: now, bytes: size, encrypted });
    return new Document(encrypted ? ENCRYPTED_TYPE : TAR_TYPE, parts, {
      fileName: backupFileName(now, encrypted),
      length: size,
    });
  }

  return {
    /**
     * Makes the copy before it returns. The copy is removed when the backup has been read completely or abandoned.
     * @param passphrase encrypts the backup and includes the master key; null makes a readable backup without that key
     */
    async download(passphrase: string | null, call: Call): Promise<Document> {
      if (isBusy)
        throw new ApiError('unavailable', 'another backup is in progress; try again when it is done');
      isBusy = true;
      const copy = copyFile(installation.dataDir);
      try {
        await transaction(() =>
          audit.record(call, 'backup.made', 'backup', null, { encrypted: passphrase !== null }),
        );
        return await begin(installation, copy, passphrase);
      } catch (error) {
        await finish(copy);
        throw error;
      }
    },
    /** Cancels a copy in progress. */
    close: () => closing.abort(),
  };
}

export type BackupService = ReturnType<typeof createBackupService>;
