// What can be restored from the back office: files in the backup folder, one uploaded file, and the data from before
// earlier restores.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { removeWhenFreeLater, renameWhenFreeLater } from '#server/platform/busy-files.ts';
import { isOutOfSpace } from '#server/platform/database-fault.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { ENCRYPTED_MAGIC } from './archive-encryption.ts';
import { freeBytes } from './backup-archive.ts';
import { SPARE_SPACE } from './backup-format.ts';
import { BEFORE, uploadFile } from './data-files.ts';
import type { RestoreOverview } from './restore-contract.ts';

const BACKUP_NAME = /^[^./\\][^/\\]*\.(?:ldbackup|tar|tar\.gz)$/u;
/** A network drive that hangs must not hang the screen. */
const FOLDER_TIMEOUT_MS = 3000;
const MAX_FILES = 1000;
/** How often an upload checks whether the disk still has space. */
const CHECK_EVERY_BYTES = 64 * 1024 * 1024;

async function isEncrypted(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer } = await file.read(Buffer.alloc(ENCRYPTED_MAGIC.length), 0, ENCRYPTED_MAGIC.length, 0);
    return buffer.equals(ENCRYPTED_MAGIC);
  } finally {
    await file.close();
  }
}

async function readFolder(folder: string): Promise<RestoreOverview['files']> {
  const names = (await readdir(folder)).filter((name) => BACKUP_NAME.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      const stats = await stat(join(folder, name)).catch(() => null);
      return stats?.isFile() ? { name, at: stats.mtimeMs, bytes: stats.size } : null;
    }),
  );
  return found
    .filter((file) => file !== null)
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MAX_FILES)
    .map(({ name, at, bytes }) => ({
      name,
      modified_at: toTimestamp(Math.floor(at)),
      bytes,
      encrypted: name.endsWith('.ldbackup'),
    }));
}

/** `before-restore-20260131T120000Z` → `2026-01-31T12:00:00Z` */
function timeOf(name: string): string | null {
  const [, day, time] = /^before-restore-(\d{8})T(\d{6})Z/u.exec(name) ?? [];
  if (day === undefined || time === undefined) return null;
  const date = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
  return `${date}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}.000Z`;
}

export function createRestoreSources(dataDir: string, folder: string | null) {
  const upload = uploadFile(dataDir);
  const draft = `${upload}.part`;
  let isUploading = false;
  let uploadId = randomUUID();

  async function listFolder(): Promise<Pick<RestoreOverview, 'files' | 'folder_problem'>> {
    if (folder === null) return { files: [], folder_problem: null };
    const giveUp = new AbortController();
    const late = delay(FOLDER_TIMEOUT_MS, undefined, { signal: giveUp.signal }).then(() => {
      throw new Error(`${folder} does not answer`);
    });
    try {
      return { files: await Promise.race([readFolder(folder), late]), folder_problem: null };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // The first backup creates it; if it was lost since, the failed backup says so.
      return { files: [], folder_problem: code === 'ENOENT' ? null : message };
    } finally {
      giveUp.abort();
      late.catch(() => {});
    }
  }

  async function listBefore(): Promise<RestoreOverview['before']> {
    return (await readdir(dataDir))
      .filter((name) => BEFORE.test(name))
      .flatMap((name) => {
        const at = timeOf(name);
        return at === null ? [] : [{ name, replaced_at: at }];
      })
      .toSorted((a, b) => b.replaced_at.localeCompare(a.replaced_at));
  }

  async function requireSpace(bytes: number): Promise<void> {
    const free = await freeBytes(dataDir);
    if (free - bytes >= SPARE_SPACE) return;
    throw new ApiError(
      'unavailable',
      `not enough disk space in ${dataDir} for the file: ${free} bytes free, of which ${SPARE_SPACE} are kept for the server`,
    );
  }

  async function receive(pieces: AsyncIterable<Uint8Array>): Promise<number> {
    let bytes = 0;
    let checkedAt = 0;
    await requireSpace(0);
    const file = await open(draft, 'w', 0o600);
    try {
      for await (const piece of pieces) {
        await file.writeFile(piece);
        bytes += piece.length;
        if (bytes - checkedAt < CHECK_EVERY_BYTES) continue;
        checkedAt = bytes;
        await requireSpace(0);
      }
    } finally {
      await file.close();
    }
    return bytes;
  }

  return {
    listFolder,
    listBefore,

    async showUpload(): Promise<RestoreOverview['upload']> {
      const id = uploadId;
      const found = await stat(upload).catch(() => null);
      return found && { upload_id: id, bytes: found.size, encrypted: await isEncrypted(upload) };
    },

    /** @throws ApiError `not_found` if another upload has begun since */
    refuseReplaced(id: string): void {
      if (id === uploadId) return;
      throw new ApiError('not_found', 'another upload has replaced this file; choose the backup again');
    },

    /** Keeps the file only if all of it arrives. One at a time; it replaces an earlier one. */
    async keepUpload(pieces: AsyncIterable<Uint8Array>) {
      if (isUploading)
        throw new ApiError('unavailable', 'another upload is in progress; try again when it is done');
      isUploading = true;
      try {
        const id = randomUUID();
        uploadId = id;
        await removeWhenFreeLater(upload);
        const bytes = await receive(pieces);
        await renameWhenFreeLater(draft, upload);
        return { upload_id: id, bytes, encrypted: await isEncrypted(upload) };
      } catch (error) {
        if (!isOutOfSpace(error)) throw error;
        throw new ApiError('unavailable', `the disk with ${dataDir} is full`);
      } finally {
        await removeWhenFreeLater(draft);
        isUploading = false;
      }
    },

    async removeUpload(): Promise<void> {
      await removeWhenFreeLater(upload);
    },

    /** @returns the path, and what to call it @throws ApiError `not_found` */
    async find(kind: 'folder' | 'upload' | 'before', name = ''): Promise<{ file: string; name: string }> {
      const missing = () => new ApiError('not_found', 'backup not found; it may have been removed');
      if (kind === 'upload') {
        if (!existsSync(upload)) throw new ApiError('not_found', 'there is no upload; upload the file again');
        return { file: upload, name: 'the uploaded file' };
      }
      const [directory, pattern] = kind === 'before' ? [dataDir, BEFORE] : [folder, BACKUP_NAME];
      if (directory === null || !pattern.test(name)) throw missing();
      const file = join(directory, name);
      const found = await stat(file).catch(() => null);
      // Reading anything else, such as a pipe, might never end.
      if (!(kind === 'before' ? found?.isDirectory() : found?.isFile())) throw missing();
      return { file, name };
    },
  };
}

export type RestoreSources = ReturnType<typeof createRestoreSources>;
