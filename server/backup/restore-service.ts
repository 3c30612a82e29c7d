// Puts a backup in the place of what a data directory holds; until all of it is prepared and checked, nothing is changed.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../platform/clock.ts';
import { MASTER_KEY_ENV } from '../platform/config.ts';
import { writeFileDurably } from '../platform/durable-file.ts';
import { loadMasterKey, MASTER_KEY_FILE, writeMasterKeyFile } from '../platform/master-key.ts';
import { openUnderPassphrase, PassphraseError } from '../platform/passphrase-seal.ts';
import { readArchive } from './backup-archive.ts';
import {
  BackupError,
  CONFIG,
  DATABASE,
  type Manifest,
  MASTER_KEY_PURPOSE,
  MOST_OF_A_SMALL_FILE,
  SEALED_MASTER_KEY,
} from './backup-format.ts';
import {
  commitRestore,
  finishRestore,
  folderForBefore,
  PLAN,
  removeLeftovers,
  type RestorePlan,
  stagingFolder,
} from './data-files.ts';

interface Needs {
  dataDir: string;
  /** From the environment, which the next start takes before any other. */
  masterKey: string | null;
  clock: Clock;
  isKnownSchema(name: string): boolean;
  /** Brings the database to this version's schema, and makes it ready for its next start. @throws SealError */
  prepareDatabase(file: string, masterKey: Buffer, manifest: Manifest): Promise<{ licenses: number }>;
}

export interface Restored {
  manifest: Manifest;
  licenses: number;
  /** The folder in the data directory that holds what was there before; null if there was nothing. */
  before: string | null;
}

interface ChosenKey {
  key: Buffer;
  /** In words, for when it is the wrong one. */
  from: string;
  isFromBackup: boolean;
}

/** What has to be said of an error of this file's own making, or of the file system's, or of anything else. */
function aboutFile(file: string, error: unknown): Error {
  const { message, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof BackupError) return new BackupError(`${file} ${message}`);
  return new BackupError(
    syscall === undefined ? `${file} is damaged: ${message}` : `${file} cannot be unpacked: ${message}`,
  );
}

/** @throws BackupError */
async function openSealedKey(content: string, passphrase: string): Promise<Buffer> {
  try {
    return await openUnderPassphrase(MASTER_KEY_PURPOSE, content, passphrase);
  } catch (error) {
    if (!(error instanceof PassphraseError)) throw error;
    throw new BackupError(
      error.reason === 'wrong_passphrase'
        ? 'the passphrase is not the one that the backup was made with'
        : 'the master key in the backup is in a form that this version does not know',
    );
  }
}

export function createRestoreService({ dataDir, masterKey, clock, isKnownSchema, prepareDatabase }: Needs) {
  const staging = stagingFolder(dataDir);
  const staged = (name: string) => join(staging, name);

  async function unpack(file: string): Promise<Manifest> {
    try {
      return await readArchive(file, staging, ({ schema, version, parts }) => {
        if (!isKnownSchema(schema))
          throw new BackupError(`was made by a newer version of License Desk (${version}); update this one`);
        if (!parts.some(({ name }) => name === DATABASE)) throw new BackupError('has no database in it');
        if (parts.some(({ name, bytes }) => name !== DATABASE && bytes > MOST_OF_A_SMALL_FILE))
          throw new BackupError('has settings in it that are too large');
      });
    } catch (error) {
      throw aboutFile(file, error);
    }
  }

  /** What the next start will take: the environment's, the backup's, or the one that is kept here already. */
  async function chooseKey(passphrase: string | null): Promise<ChosenKey> {
    const isSealedIn = existsSync(staged(SEALED_MASTER_KEY));
    if (passphrase !== null && !isSealedIn)
      throw new BackupError('the backup has no master key in it, so that no passphrase is needed');
    const opened =
      passphrase === null
        ? null
        : await openSealedKey(readFileSync(staged(SEALED_MASTER_KEY), 'utf8'), passphrase);
    if (masterKey !== null) {
      const key = loadMasterKey(dataDir, masterKey, false);
      return { key, from: MASTER_KEY_ENV, isFromBackup: false };
    }
    if (opened) return { key: opened, from: 'the backup', isFromBackup: true };
    const path = join(dataDir, MASTER_KEY_FILE);
    if (!existsSync(path)) {
      const advice = isSealedIn
        ? 'give the passphrase that it was sealed with'
        : `put the master.key that was kept apart into ${dataDir}, or set ${MASTER_KEY_ENV}`;
      throw new BackupError(`the master key of the backup is needed: ${advice}`);
    }
    return { key: loadMasterKey(dataDir, null, false), from: path, isFromBackup: false };
  }

  async function prepare(manifest: Manifest, { key, from }: ChosenKey) {
    try {
      return await prepareDatabase(staged(DATABASE), key, manifest);
    } catch (error) {
      if ((error as Error).name !== 'SealError') throw error;
      throw new BackupError(`the master key from ${from} is not the one that the backup belongs to`);
    }
  }

  return {
    /**
     * Called under the data directory's lock.
     * @param passphrase of the master key in it; null: that is kept apart
     * @throws BackupError, ConfigError or NewerDatabaseError, and then nothing has changed
     */
    async restore(file: string, passphrase: string | null): Promise<Restored> {
      finishRestore(dataDir);
      removeLeftovers(dataDir);
      mkdirSync(staging, { mode: 0o700 });
      try {
        const manifest = await unpack(file);
        const key = await chooseKey(passphrase);
        const { licenses } = await prepare(manifest, key);
        if (key.isFromBackup) writeMasterKeyFile(staging, key.key);
        rmSync(staged(SEALED_MASTER_KEY), { force: true });
        const names = [CONFIG, MASTER_KEY_FILE, DATABASE] as const;
        const before = folderForBefore(dataDir, clock.now());
        const plan: RestorePlan = { names: names.filter((name) => existsSync(staged(name))), before };
        writeFileDurably(staged(PLAN), JSON.stringify(plan));
        commitRestore(dataDir);
        finishRestore(dataDir);
        return { manifest, licenses, before: existsSync(join(dataDir, before)) ? before : null };
      } catch (error) {
        removeLeftovers(dataDir);
        throw error;
      }
    },
  };
}
