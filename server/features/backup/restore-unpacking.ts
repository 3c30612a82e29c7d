// Unpacks what is to be restored into the staging folder: a backup, or the folder with the data from before a restore.
import { copyFileSync, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { faultOf } from '#server/platform/database-fault.ts';
import { MASTER_KEY_FILE } from '#server/platform/master-key.ts';
import { systemMessageOf, systemReasonOf } from '#server/platform/system-error.ts';
import { readArchive } from './archive-reader.ts';
import { type CopyDatabase, freeBytes } from './backup-archive.ts';
import {
  BackupError,
  CONFIG,
  DATABASE,
  hasPart,
  type Manifest,
  MAX_SMALL_FILE,
  SPARE_SPACE,
} from './backup-format.ts';
import { BEFORE, stagingFolder } from './data-files.ts';

export interface RestoreRequest {
  /** A backup, or the folder with the data from before a restore. */
  file: string;
  /** What to call it; the file unless given. */
  name?: string;
  /** Null if not given. */
  passphrase: string | null;
  /** Accepts what neither a passphrase nor its place authenticates (contract, section 8). */
  acceptUnsigned: boolean;
}

interface UnpackNeeds {
  dataDir: string;
  copyDatabase: CopyDatabase;
  /** Ends what takes long. */
  signal: AbortSignal;
  /** License Desk version. */
  version: string;
  isKnownSchema(name: string): boolean;
  findDamage(file: string): Promise<string | null>;
}

interface Unpacked {
  manifest: Pick<Manifest, 'created_at' | 'version'>;
  /** Whether a passphrase proves that it is unaltered, or it has been in the data directory since a restore. */
  authenticated: boolean;
  /** Whether it is the data from before a restore. */
  fromBefore: boolean;
}

/** @param damage as SQLite describes it, possibly in several lines */
const damagedDatabase = (damage: string) =>
  new BackupError(
    `is damaged: its database has an error (${damage.replaceAll(/\s+/gu, ' ')}); nothing has changed; restore another backup`,
  );

/** Before it is copied, which writes its log back into the file. */
function lastChange(database: string): string {
  const log = statSync(`${database}-wal`, { throwIfNoEntry: false });
  return new Date(Math.max(statSync(database).mtimeMs, log?.mtimeMs ?? 0)).toISOString();
}

/** @param error from the archive, the file system or elsewhere */
function aboutFile(file: string, error: unknown): Error {
  const { syscall, path } = error as NodeJS.ErrnoException;
  const message = systemMessageOf(error as Error);
  if (error instanceof BackupError) return new BackupError(`${file} ${message}`);
  if (path === file) return new BackupError(`${file} cannot be read: ${systemReasonOf(error as Error)}`);
  const fault = faultOf(error);
  if (fault === 'damaged') return aboutFile(file, damagedDatabase(message));
  return new BackupError(
    syscall === undefined && fault === null
      ? `${file} is damaged: ${message}`
      : `${file} cannot be unpacked: ${message}`,
  );
}

export function createUnpacking(needs: UnpackNeeds) {
  const { dataDir, copyDatabase, signal, isKnownSchema } = needs;
  const staging = stagingFolder(dataDir);
  const staged = (name: string) => join(staging, name);

  function refuseUnusable(found: Manifest): void {
    const { schema, version, parts } = found;
    if (!isKnownSchema(schema))
      throw new BackupError(
        `was made by a newer version of License Desk (${version}); install that version or a later one`,
      );
    if (!hasPart(found, DATABASE)) throw new BackupError('does not contain a database');
    const large = parts.find(({ name, bytes }) => name !== DATABASE && bytes > MAX_SMALL_FILE);
    if (large) throw new BackupError(`has a ${large.name} of more than ${MAX_SMALL_FILE} bytes`);
  }

  async function refuseWithoutSpace(bytes: number): Promise<void> {
    const needed = bytes + SPARE_SPACE;
    const free = await freeBytes(dataDir);
    if (free < needed) {
      throw new BackupError(
        `cannot be unpacked: not enough disk space in ${dataDir}: ${needed} bytes needed, ${free} bytes free`,
      );
    }
  }

  /** Whether a restore has put it into the data directory, to which only this user can write. */
  function isFromBefore(folder: string): boolean {
    const path = realpathSync(folder);
    return dirname(path) === realpathSync(dataDir) && BEFORE.test(basename(path));
  }

  /** The data from before a restore, as if it were a backup. */
  async function takeFolder(folder: string, acceptUnsigned: boolean): Promise<Unpacked> {
    const fromBefore = isFromBefore(folder);
    if (!fromBefore && !acceptUnsigned)
      throw new BackupError(
        `is not authenticated: it is not a before-restore folder of ${dataDir}, and may have been altered; --accept-unsigned restores it anyway`,
      );
    const kept = { url: null, file: join(folder, DATABASE) };
    if (!existsSync(kept.file)) throw new BackupError('does not contain a database');
    await refuseWithoutSpace(statSync(kept.file).size);
    const created_at = lastChange(kept.file);
    await copyDatabase(kept, staged(DATABASE), { withoutRowsOf: [], signal });
    for (const name of [CONFIG, MASTER_KEY_FILE])
      if (existsSync(join(folder, name))) copyFileSync(join(folder, name), staged(name));
    return { manifest: { created_at, version: needs.version }, authenticated: fromBefore, fromBefore };
  }

  async function takeArchive({ file, passphrase, acceptUnsigned }: RestoreRequest): Promise<Unpacked> {
    const archive = await readArchive(file, {
      passphrase,
      directory: staging,
      async accept(found, authenticated) {
        refuseUnusable(found);
        if (!authenticated && !acceptUnsigned) {
          throw new BackupError(
            'is not authenticated: it was made without a passphrase or by an earlier version, and may have been altered since; --accept-unsigned restores it anyway',
          );
        }
        await refuseWithoutSpace(found.parts.reduce((sum, { bytes }) => sum + bytes, 0));
      },
    });
    return { ...archive, fromBefore: false };
  }

  return async (request: RestoreRequest): Promise<Unpacked> => {
    const { file, acceptUnsigned } = request;
    try {
      const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory();
      const unpacked = await (isFolder ? takeFolder(file, acceptUnsigned) : takeArchive(request));
      // The preview does not read every page, and after a confirmation it is too late to choose another backup.
      const damage = await needs.findDamage(staged(DATABASE));
      if (damage !== null) throw damagedDatabase(damage);
      return unpacked;
    } catch (error) {
      throw aboutFile(file, error);
    }
  };
}
