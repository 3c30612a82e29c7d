// The connections to a SQLite file: one for reading, one for look-ups, one for the single writer.
import type { Sequelize } from 'sequelize';
import { finalizeStatements, onStatementError } from './compiled-statements.ts';
import { LOCK_WAIT_MS } from './lock-wait.ts';
import { replaceConnectionManager } from './sequelize-internals.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { StorageGuard } from './storage-guard.ts';

const SQLITE_PRAGMAS = [
  `PRAGMA busy_timeout = ${LOCK_WAIT_MS}`,
  'PRAGMA journal_mode = WAL',
  // FULL: a reply is sent only after its change would survive a power cut.
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  'PRAGMA cache_size = -16000',
  'PRAGMA temp_store = MEMORY',
].join('; ');

/** Where Sequelize, too, reads outside a transaction. */
export const READ_LANE = 'default';

/**
 * The busiest look-ups have a SQLite connection of their own: a statement blocks its connection, and a page of
 * statistics must not hold up an authorization.
 */
export const LOOKUP_LANE = 'lookup';

const WRITE_LANE = 'writer';

/**
 * Sequelize opens and closes a SQLite file for each transaction. Instead keep three connections:
 * one for reading, one for look-ups, one for the single writer that `transaction()` lets in.
 */
export function keepConnections(sequelize: Sequelize, guard: StorageGuard | undefined): void {
  replaceConnectionManager(sequelize, (opener) => {
    const lanes = new Map<string, Promise<SqliteConnection>>();

    /** Sequelize, too, keeps each connection by its lane, even one that could not be opened. */
    const forget = (lane: string): void => {
      lanes.delete(lane);
      opener.forget(lane);
    };

    const openLane = async (lane: string): Promise<SqliteConnection> => {
      // Where the file was replaced, a new connection would open the other one.
      guard?.check();
      const connection = await opener.open(lane);
      if (guard) onStatementError(connection, guard.note);
      await new Promise<void>((resolve, reject) => {
        // Left open, it would keep the file and leave SQLite's log beside it.
        connection.exec(SQLITE_PRAGMAS, (error) =>
          error ? connection.close(() => reject(error)) : resolve(),
        );
      });
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
      // One after the other: SQLite writes back and removes its log only for the last one, and of two that close at the
      // same moment neither is.
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
      // Only the writer is ever destroyed: after a rollback that failed because SQLite had rolled back by itself.
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
