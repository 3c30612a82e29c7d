// Opens SQLite in the data directory, or PostgreSQL by URL. No other file knows the drivers.
import { Sequelize } from 'sequelize';
import { writingTransaction } from './current-transaction.ts';
import { LOCK_WAIT_MS } from './lock-wait.ts';
import {
  joinTransactions,
  onQueryError,
  reportFailedOpening,
  setOpenMode,
  setPostgresVersion,
} from './sequelize-internals.ts';
import { keepConnections } from './sqlite-lanes.ts';
import type { StorageGuard } from './storage-guard.ts';

/** An open database, for modules that only pass it on. */
export type Database = Sequelize;
export type Dialect = 'sqlite' | 'postgres';

export interface DatabaseLocation {
  /** `postgres://…`, or null for SQLite. */
  url: string | null;
  /** The SQLite file. */
  file: string;
}

joinTransactions(writingTransaction);

export function dialectOf(sequelize: Sequelize): Dialect {
  return sequelize.getDialect() as Dialect;
}

interface ConnectOptions {
  /** Receives every failed statement. */
  guard?: StorageGuard;
  /** Creates the SQLite file if it is missing. Off by default, or a removed database would come back empty. */
  create?: boolean;
}

/** What the driver and the database server are told about each connection. Times are in milliseconds. */
const POSTGRES_OPTIONS = {
  application_name: 'license-desk',
  // Without keep-alive, a connection whose peer has vanished waits for hours.
  keepAlive: true,
  connectionTimeoutMillis: 5000,
  lock_timeout: LOCK_WAIT_MS,
  /** Far above what the longest call takes with a million licenses. */
  statement_timeout: 60_000,
  /** The locks of a server that was suspended in the middle of a change end after this. */
  idle_in_transaction_session_timeout: 20_000,
} as const;

/** The oldest version that is supported. */
const OLDEST_POSTGRES = '14.0.0';

/** The driver as Sequelize uses it. */
async function postgresDriver(): Promise<object> {
  const { default: pg } = await import('pg');
  // IDs, counts and epoch milliseconds fit a JavaScript number.
  pg.defaults.parseInt8 = true;
  class Client extends pg.Client {
    constructor(config: object) {
      super(config);
      // Sequelize listens later. If PostgreSQL ends the connection before that, the error would end the process.
      this.on('error', () => Object.assign(this, { _invalid: true }));
    }
  }
  return { Client, types: pg.types };
}

const SHARED_OPTIONS = {
  logging: false as const,
  define: { timestamps: false, underscored: true },
  // The busy timeout has already waited; Sequelize would repeat the wait five times.
  retry: { max: 1 },
};

/** A pool without connections. They are opened when they are needed. */
export async function createPostgresPool(url: string): Promise<Sequelize> {
  const sequelize = new Sequelize(url, {
    ...SHARED_OPTIONS,
    dialect: 'postgres',
    dialectModule: await postgresDriver(),
    pool: { max: 10, acquire: 10_000 },
    // A copy, because Sequelize adds the parameters of the URL to it.
    dialectOptions: { ...POSTGRES_OPTIONS },
  });
  setPostgresVersion(sequelize, OLDEST_POSTGRES);
  reportFailedOpening(sequelize);
  return sequelize;
}

/** Connects without migrating. */
export async function connect(
  location: DatabaseLocation,
  { guard, create = false }: ConnectOptions = {},
): Promise<Sequelize> {
  if (location.url !== null) {
    const sequelize = await createPostgresPool(location.url);
    if (guard) onQueryError(sequelize, guard.note);
    await sequelize.authenticate();
    return sequelize;
  }
  const { default: sqlite3 } = await import('sqlite3');
  const sequelize = new Sequelize({
    ...SHARED_OPTIONS,
    dialect: 'sqlite',
    dialectModule: sqlite3,
    storage: location.file,
    dialectOptions: { mode: sqlite3.OPEN_READWRITE | (create ? sqlite3.OPEN_CREATE : 0) },
  });
  keepConnections(sequelize, guard);
  if (guard) onQueryError(sequelize, guard.note);
  await sequelize.authenticate();
  // Later connections must open the same file, or fail.
  setOpenMode(sequelize, sqlite3.OPEN_READWRITE);
  return sequelize;
}
