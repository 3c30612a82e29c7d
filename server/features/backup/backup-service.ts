// Creates backups while the server runs: first a copy of the database, then the archive as fast as the client reads it.
import { existsSync, readFileSync } from 'node:fs';
import { rm, stat, statfs } from 'node:fs/promises';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { configFilePath } from '#server/platform/config.ts';
import { Document, type DocumentParts } from '#server/platform/document.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { Source } from './archive-writer.ts';
import { ENCRYPTED_TYPE, TAR_TYPE } from './backup-contract.ts';
import {
  CONFIG,
  DATABASE,
  MANIFEST,
  type Manifest,
  MASTER_KEY,
  type PartName,
  SPARE_SPACE,
} from './backup-format.ts';
import { copyFile } from './data-files.ts';

/**
 * Private keys that wait for their one download. Idempotent replies stay in: without them, a call that is repeated
 * after a restore would take effect twice.
 */
const LEFT_OUT = ['certificate_keys'];

interface Needs {
  dataDir: string;
  /** The SQLite database; null with PostgreSQL. */
  database: string | null;
  masterKey: Buffer;
  /** License Desk version and database schema. */
  version: string;
  schema: string;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  copyDatabase(
    source: string,
    target: string,
    options: { withoutRowsOf: readonly string[]; signal: AbortSignal },
  ): Promise<void>;
}

const noRoom = (needed: number, free: number) =>
  new ApiError(
    'unavailable',
    `not enough disk space to copy the database: ${needed} bytes needed, ${free} bytes free`,
  );

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

async function sizeOnDisk(file: string): Promise<number> {
  return existsSync(file) ? (await stat(file)).size : 0;
}

export function createBackupService(needs: Needs) {
  const { dataDir, database, audit, transaction, clock } = needs;
  const copy = copyFile(dataDir);
  const closing = new AbortController();
  let isBusy = false;

  async function makeCopy(source: string): Promise<void> {
    const needed = (await sizeOnDisk(source)) + (await sizeOnDisk(`${source}-wal`)) + SPARE_SPACE;
    const free = await freeBytes(dataDir);
    if (free < needed) throw noRoom(needed, free);
    await rm(copy, { force: true });
    try {
      await needs.copyDatabase(source, copy, { withoutRowsOf: LEFT_OUT, signal: closing.signal });
    } catch (error) {
      if (closing.signal.aborted) throw new ApiError('unavailable', 'the server is stopping');
      if ((error as { code?: unknown }).code !== 'SQLITE_FULL') throw error;
      throw noRoom(needed, await freeBytes(dataDir));
    }
  }

  function partsOf(passphrase: string | null): Source<PartName>[] {
    const parts: Source<PartName>[] = [];
    if (existsSync(configFilePath(dataDir)))
      parts.push({ name: CONFIG, text: readFileSync(configFilePath(dataDir), 'utf8') });
    if (passphrase !== null)
      parts.push({ name: MASTER_KEY, text: `${needs.masterKey.toString('base64')}\n` });
    return [...parts, { name: DATABASE, path: copy }];
  }

  /**
   * Sends the last part only after the copy is removed, so that a client that has all of it can request another backup.
   */
  async function* thenRemove(parts: DocumentParts): DocumentParts {
    let last: string | Uint8Array | undefined;
    try {
      for await (const part of parts) {
        if (last !== undefined) yield last;
        last = part;
      }
    } finally {
      await finish();
    }
    if (last !== undefined) yield last;
  }

  async function finish(): Promise<void> {
    await rm(copy, { force: true });
    isBusy = false;
  }

  async function begin(passphrase: string | null, source: string): Promise<Document> {
    // Loaded on demand, to keep the start fast.
    const { measure, writeArchive } = await import('./archive-writer.ts');
    const now = clock.now();
    await makeCopy(source);
    const parts = partsOf(passphrase);
    const manifest: Manifest = {
      format: 'license-desk-backup',
      format_version: 1,
      version: needs.version,
      schema: needs.schema,
      created_at: toTimestamp(now),
      parts: await Promise.all(parts.map(measure)),
    };
    const sources = [{ name: MANIFEST, text: `${JSON.stringify(manifest, null, 2)}\n` }, ...parts];
    const { content, size } = await writeArchive(sources, { passphrase, mtime: new Date(now) });
    const [type, extension] = passphrase === null ? [TAR_TYPE, 'tar'] : [ENCRYPTED_TYPE, 'ldbackup'];
    return new Document(type, thenRemove(content), {
      fileName: `license-desk-${manifest.created_at.slice(0, 19).replaceAll(/[-:]/gu, '')}Z.${extension}`,
      length: size,
    });
  }

  return {
    /**
     * Makes the copy before it returns. The copy is removed when the backup has been read completely or abandoned.
     * @param passphrase encrypts the backup and includes the master key; null makes a readable backup without that key
     */
    async download(passphrase: string | null, call: Call): Promise<Document> {
      if (database === null) {
        throw new ApiError(
          'invalid_request',
          'the data is in PostgreSQL: back it up with pg_dump, and keep config.json and the master key',
        );
      }
      if (isBusy)
        throw new ApiError('unavailable', 'another backup is in progress; try again when it is done');
      isBusy = true;
      try {
        await transaction(() =>
          audit.record(call, 'backup.made', 'backup', null, { encrypted: passphrase !== null }),
        );
        return await begin(passphrase, database);
      } catch (error) {
        await finish();
        throw error;
      }
    },
    /** Cancels a copy in progress. */
    close: () => closing.abort(),
  };
}

export type BackupService = ReturnType<typeof createBackupService>;
