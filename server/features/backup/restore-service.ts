// Restores a backup in two steps: it is unpacked, checked and previewed first, and put in place on confirmation. Until
// then, nothing in the data directory changes.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseLocation } from '#server/database/connect.ts';
import { NotReplacedError } from '#server/database/move/not-replaced.ts';
import { removeWhenFree } from '#server/platform/busy-files.ts';
import type { Clock } from '#server/platform/clock.ts';
import { type Config, configFilePath } from '#server/platform/config.ts';
import { isOutOfSpace } from '#server/platform/database-fault.ts';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import { MASTER_KEY_FILE, writeMasterKeyFile } from '#server/platform/master-key.ts';
import { type CopyDatabase, freeBytes } from './backup-archive.ts';
import { BackupError, CONFIG, DATABASE, SEALED_MASTER_KEY, SPARE_SPACE } from './backup-format.ts';
import {
  cancelRestore,
  commitRestore,
  finishRestore,
  folderForBefore,
  PLAN,
  removeLeftovers,
  removeStaging,
  type RestoredBackup,
  type RestorePlan,
  type RestoreTarget,
  stagingFolder,
  withdrawRestore,
} from './data-files.ts';
import type { Ended } from './newer-objects-store.ts';
import type { Comparison, RestorePreview, SettingChange } from './restore-preview.ts';
import { createUnpacking, type RestoreRequest } from './restore-unpacking.ts';
import type { HighestGiven } from './restored-database-store.ts';
import { chooseMasterKey } from './restored-master-key.ts';
import { SealError } from '#server/platform/sealer.ts';

interface Needs {
  dataDir: string;
  /** Whether a server runs on the data directory: the files in place then stay until its next start. */
  isServing: boolean;
  copyDatabase: CopyDatabase;
  /** Ends copies and the check of the backup's database. */
  signal: AbortSignal;
  database: DatabaseLocation;
  target: RestoreTarget;
  /** Whether the database exists and has content. */
  hasDatabase(): Promise<boolean>;
  /** Gives `config.json` in this folder the present settings of the database: a restore does not move the data. */
  keepDatabaseSettings(folder: string): void;
  /** @returns why a server would not start with the `config.json` in this folder; null if it would */
  problemOfSettings(folder: string): Promise<string | null>;
  givenKey: Pick<Config, 'masterKey' | 'isKeyKeptByApp'>;
  clock: Clock;
  /** License Desk version. */
  version: string;
  isKnownSchema(name: string): boolean;
  /** @returns the first damage in a database file; null if there is none */
  findDamage(file: string): Promise<string | null>;
  /** Migrates the database to this version's schema. @throws SealError if the key cannot open its secrets */
  upgradeDatabase(file: string, masterKey: Buffer): Promise<void>;
  /** Names of triggers and views that no migration has created. */
  findForeignCode(file: string): Promise<string[]>;
  /** Reads both. @param present null if there is none */
  compareDatabases(
    restored: string,
    present: string | null,
    now: number,
  ): Promise<{ comparison: Comparison; highest: HighestGiven | null }>;
  findEnded(restored: string, present: string): Promise<Ended>;
  /** @throws NotReplacedError if the authority was replaced since the preview, and the restored database does not get it */
  requireKnownAuthority(restored: string, present: string, ended: Ended): Promise<void>;
  /** @param now, restored contents of `config.json`; null if there is none */
  compareSettings(now: string | null, restored: string | null): SettingChange[];
  /** Prepares the database for its next start. @param about its `present`: the current database, if it can be read */
  finishDatabase(
    file: string,
    masterKey: Buffer,
    about: { preview: RestorePreview; highest: HighestGiven | null; present: string | null },
  ): Promise<void>;
}

/** A copy of the present content of PostgreSQL, to compare with. */
const PRESENT = 'present.db';

export interface Restored {
  /** The folder in the data directory with the previous data; null if there was none. */
  before: string | null;
}

/** A restore that waits for confirmation. The data directory stays locked meanwhile. */
export interface PendingRestore {
  preview: RestorePreview;
  /** Puts the whole backup in place, or nothing; while a server runs, its next start does that. @throws BackupError */
  commit(): Promise<Restored>;
}

function textOf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

export function createRestoreService(needs: Needs) {
  const { dataDir, clock, signal } = needs;
  const staging = stagingFolder(dataDir);
  const staged = (name: string) => join(staging, name);
  const unpack = createUnpacking(needs);

  /** Triggers and views could do what the preview does not show. @throws BackupError */
  async function refuseForeignCode(file: string): Promise<void> {
    const names = await needs.findForeignCode(staged(DATABASE));
    if (names.length === 0) return;
    throw new BackupError(
      `${file} was altered: its database has triggers or views that License Desk does not create (${names.join(', ')})`,
    );
  }

  /**
   * The present content as a SQLite file; null if there is none.
   * @throws BackupError if the disk has no space for a copy of PostgreSQL
   */
  async function presentFile(): Promise<string | null> {
    if (!(await needs.hasDatabase())) return null;
    const { database } = needs;
    if (database.url === null) return database.file;
    removeWhenFree(staged(PRESENT));
    try {
      await needs.copyDatabase(database, staged(PRESENT), { withoutRowsOf: [], signal });
      // Putting the backup in place writes such a copy again, in place of this one: the data from before.
      if ((await freeBytes(dataDir)) >= SPARE_SPACE) return staged(PRESENT);
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
    }
    removeWhenFree(staged(PRESENT));
    throw new BackupError(
      `not enough disk space in ${dataDir} for the data from before the restore, which is kept there: ${await freeBytes(dataDir)} bytes free, of which ${SPARE_SPACE} are kept for the server; nothing has changed; free some space, then try again`,
    );
  }

  /** What a stop ends fails in several ways. */
  const orStopped = (error: unknown): never => {
    throw signal.aborted ? new BackupError('the server is stopping; nothing has changed') : error;
  };

  /** @returns null if the current database cannot be read, which the comparison reports */
  const findEnded = (current: string): Promise<Ended | null> =>
    needs.findEnded(staged(DATABASE), current).catch(() => null);

  async function open(request: RestoreRequest): Promise<PendingRestore> {
    const { manifest, authenticated, fromBefore } = await unpack(request);
    needs.keepDatabaseSettings(staging);
    const chosen = await chooseMasterKey(dataDir, staging, needs.givenKey, request.passphrase);
    const { key } = chosen;
    await needs.upgradeDatabase(staged(DATABASE), key).catch((error: Error) => {
      if (!(error instanceof SealError)) throw error;
      throw new BackupError(`the master key from ${chosen.from} does not belong to this backup`);
    });
    if (!authenticated) await refuseForeignCode(request.file);
    const current = await presentFile();
    // First: what ends between the two reads stays ended. A database that cannot be read is compared with, too.
    const ended = current && needs.isServing ? await findEnded(current) : null;
    const { comparison, highest } = await needs.compareDatabases(staged(DATABASE), current, clock.now());
    removeWhenFree(staged(PRESENT));
    // At the command line, the administrator can correct the file after the restore.
    const problem = needs.isServing ? await needs.problemOfSettings(staging) : null;
    if (problem !== null)
      throw new BackupError(`the server would not start with the settings in this backup: ${problem}`);
    const { created_at, version } = manifest;
    const settings = needs.compareSettings(textOf(configFilePath(dataDir)), textOf(staged(CONFIG)));
    const preview: RestorePreview = {
      created_at,
      version,
      authenticated,
      from_before: fromBefore,
      ...comparison,
      settings,
    };

    return {
      preview,
      async commit() {
        // They may have changed since the preview.
        needs.keepDatabaseSettings(staging);
        // Certificates may have been issued or revoked since the preview.
        const present = comparison.present && (await presentFile().catch(orStopped));
        if (present && ended) await needs.requireKnownAuthority(staged(DATABASE), present, ended);
        await needs.finishDatabase(staged(DATABASE), key, { preview, highest, present });
        removeWhenFree(staged(PRESENT));
        removeWhenFree(staged(MASTER_KEY_FILE));
        if (chosen.isFromBackup) writeMasterKeyFile(staging, key);
        removeWhenFree(staged(SEALED_MASTER_KEY));
        const { name = request.file } = request;
        // Nothing can be kept of a database that could not be read, as the preview has said.
        const kept = comparison.present && ended;
        return { before: await putInPlace({ source: name, created_at, version }, kept) };
      },
    };
  }

  /** @returns the folder for the previous data; null if there was none, or if it is still in place */
  async function putInPlace(about: RestoredBackup, ended: Ended | null): Promise<string | null> {
    const names = [CONFIG, MASTER_KEY_FILE, DATABASE] as const;
    const before = folderForBefore(dataDir, clock.now());
    const plan: RestorePlan = {
      names: names.filter((name) => existsSync(staged(name))),
      before,
      database: needs.target.name,
      about,
      ended,
    };
    writeFileDurably(staged(PLAN), JSON.stringify(plan));
    commitRestore(dataDir);
    if (needs.isServing) return null;
    try {
      await finishRestore(dataDir, needs.target);
    } catch (error) {
      if (error instanceof NotReplacedError) {
        withdrawRestore(dataDir);
        throw new BackupError(`the backup cannot be restored: ${error.message}`);
      }
      throw new BackupError(
        `the restore is committed but not finished (${(error as Error).message}); the next start of the server finishes it`,
      );
    }
    return existsSync(join(dataDir, before)) ? before : null;
  }

  return {
    /**
     * Requires the data directory lock, which is kept until the restore is committed or cancelled.
     * @throws BackupError, ConfigError or NewerDatabaseError; nothing has changed then
     */
    async open(request: RestoreRequest): Promise<PendingRestore> {
      if (needs.isServing) removeStaging(dataDir);
      else {
        await finishRestore(dataDir, needs.target).catch((error: unknown) => {
          if (!(error instanceof NotReplacedError)) throw error;
          // As a start does.
          cancelRestore(dataDir, error.message);
        });
        removeLeftovers(dataDir);
      }
      mkdirSync(staging, { mode: 0o700 });
      return open(request).catch(orStopped);
    },
    /** Removes the unpacked files unless the restore has been committed. */
    cancel: () => (needs.isServing ? removeStaging(dataDir) : removeLeftovers(dataDir)),
  };
}
