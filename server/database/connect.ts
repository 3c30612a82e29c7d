// Opens the database: SQLite in the data directory or PostgreSQL by URL. The only file that knows either driver.
import { Sequelize } from 'sequelize';
import { currentTransaction } from './current-transaction.ts';
import { LOCK_WAIT_MS } from './lock-wait.ts';
import { joinTransactions, onQueryError, setOpenMode } from './sequelize-internals.ts';
import { keepConnections } from './sqlite-lanes.ts';
import type { StorageGuard } from './storage-guard.ts';

/** An open database, as those hand it on who need not know more. */
export type Database = Sequelize;
export type Dialect = 'sqlite' | 'postgres';

export interface DatabaseLocation {
  /** `postgres://…`, or null for SQLite. */
  url: string | null;
  /** The SQLite file. */
  file: string;
}

joinTransactions(currentTransaction);

export function dialectOf(sequelize: Sequelize): Dialect {
  return sequelize.getDialect() as Dialect;
}

interface ConnectOptions {
  /** Is told of every statement that fails. */
  guard?: StorageGuard;
  /** Creates a SQLite file that does not exist; otherwise one that was removed would come back empty. */
  create?: boolean;
}

/** Connects; nothing is migrated yet. */
export async function connect(
  location: DatabaseLocation,
  { guard, create = false }: ConnectOptions = {},
): Promise<Sequelize> {
  const shared = {
    logging: false as const,
    define: { timestamps: false, underscored: true },
    // The busy timeout has waited long enough; Sequelize would wait for it five times over.
    retry: { max: 1 },
  };
  if (location.url !== null) {
    const { default: pg } = await import('pg');
    // Ids, counts and epoch milliseconds all fit a JavaScript number.
    pg.defaults.parseInt8 = true;
    const sequelize = new Sequelize(location.url, {
      ...shared,
      dialect: 'postgres',
      dialectModule: pg,
      pool: { max: 10, acquire: 10_000 },
      // Without it a connection whose other end has vanished waits for hours.
      dialectOptions: { keepAlive: true, lock_timeout: LOCK_WAIT_MS },
    });
    if (guard) onQueryError(sequelize, guard.note);
    await sequelize.authenticate();
    return sequelize;
  }
  const { default: sqlite3 } = await import('sqlite3');
  const sequelize = new Sequelize({
    ...shared,
    dialect: 'sqlite',
    dialectModule: sqlite3,
    storage: location.file,
    dialectOptions: { mode: sqlite3.OPEN_READWRITE | (create ? sqlite3.OPEN_CREATE : 0) },
  });
  keepConnections(sequelize, guard);
  if (guard) onQueryError(sequelize, guard.note);
  await sequelize.authenticate();
  // Further connections are to the same file, or to none.
  setOpenMode(sequelize, sqlite3.OPEN_READWRITE);
  return sequelize;
}
