// The connections to a SQLite file: one for reading, one for look-ups, one for the single writer.
import type { Sequelize } from 'sequelize';
import { finalizeStatements, onStatementError } from './compiled-statements.ts';
import { LOCK_WAIT_MS } from './lock-wait.ts';
import { replaceConnectionManager } from './sequelize-internals.ts';
import { FLUSH_DISK_CACHE, type SqliteConnection } from './sqlite-connection.ts';
import type { StorageGuard } from './storage-guard.ts';

const SQLITE_PRAGMAS = [
  `PRAGMA busy_timeout = ${LOCK_WAIT_MS}`,
  'PRAGMA journal_mode = WAL',
  // FULL: a reply is sent only after its change would survive a power failure.
  'PRAGMA synchronous = FULL',
  FLUSH_DISK_CACHE,
  'PRAGMA foreign_keys = ON',
  'PRAGMA temp_store = MEMORY',
].join('; ');

/** Sequelize's own name for reads outside a transaction. */
export const READ_LANE = 'default';

/**
 * The most frequent look-ups have a separate connection: a statement blocks its connection, and a page of statistics
 * must not delay an authorization.
 */
export const LOOKUP_LANE = 'lookup';

export const WRITE_LANE = 'writer';

/**
 * The pages that a connection holds itself; SQLite's default is 2 MB, and all others are in the system's memory.
 * For the writer, enough for the pages of one commit. For look-ups, enough for the inner pages of the trees of a
 * million licenses and their tokens (2.8 MB), so that a look-up reads its leaves alone: 3 pages instead of 5.
 */
const CACHES: Readonly<Record<string, string>> = {
  [WRITE_LANE]: 'PRAGMA cache_size = -4000',
  [LOOKUP_LANE]: 'PRAGMA cache_size = -6000',
};

type OnOpened = (connection: SqliteConnection) => Promise<void>;

const writerListeners = new WeakMap<Sequelize, OnOpened>();

/** Called for each new connection of the writer, before its first statement; a failure fails the opening. */
export function onWriterOpened(sequelize: Sequelize, listener: OnOpened): void {
  writerListeners.set(sequelize, listener);
}

/**
 * Sequelize opens and closes the SQLite file for each transaction. This keeps three connections instead:
 * one for reading, one for look-ups, one for the single writer that `transaction()` admits.
 */
export function keepConnections(sequelize: Sequelize, guard: StorageGuard | undefined): void {
  replaceConnectionManager(sequelize, (opener) => {
    const lanes = new Map<string, Promise<SqliteConnection>>();

    /** Sequelize also remembers each lane's connection, even one that failed to open. */
    const forget = (lane: string): void => {
      lanes.delete(lane);
      opener.forget(lane);
    };

    const prepareWriter = async (connection: SqliteConnection): Promise<void> => {
      try {
        await writerListeners.get(sequelize)?.(connection);
      } catch (error) {
        await new Promise<void>((resolve) => {
          connection.close(resolve);
        });
        throw error;
      }
    };

    const openLane = async (lane: string): Promise<SqliteConnection> => {
      // If the file was replaced, a new connection would open a different database.
      guard?.check();
      const connection = await opener.open(lane);
      if (guard) onStatementError(connection, guard.note);
      await new Promise<void>((resolve, reject) => {
        // Left open, it would keep the file and leave SQLite's log beside it.
        const pragmas = `${SQLITE_PRAGMAS}; ${CACHES[lane] ?? ''}`;
        connection.exec(pragmas, (error) => (error ? connection.close(() => reject(error)) : resolve()));
      });
      if (lane === WRITE_LANE) await prepareWriter(connection);
      return connection;
    };

    return {
      get(id) {
        const lane = id === READ_LANE || id === LOOKUP_LANE ? id : WRITE_LANE;
        const opened = lanes.get(lane) ?? openLane(lane);
        lanes.set(lane, opened);
        opened.catch(() => forget(lane));
        return opened;
      },
      // Closes one after the other: only the last connection checkpoints and removes the WAL, and SQLite does neither
      // if two close at the same time.
      async closeAll() {
        for (const opened of lanes.values()) {
          const connection = await opened.catch(() => undefined);
          await new Promise<void>((resolve) => {
            if (connection) finalizeStatements(connection).then(() => connection.close(resolve), resolve);
            else resolve();
          });
        }
        lanes.clear();
      },
      // Only the writer is ever destroyed, after a rollback failed because SQLite had already rolled back.
      async destroy(connection) {
        forget(WRITE_LANE);
        await finalizeStatements(connection);
        await new Promise<void>((resolve) => {
          connection.close(resolve);
        });
      },
    };
  });
}
