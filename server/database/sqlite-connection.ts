// What the SQLite driver and Sequelize's connection manager offer, as far as it is used here.

/** What is used of the driver's connection. */
export interface SqliteConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  prepare(sql: string, done: (error: Error | null) => void): SqliteStatement;
  close(done: () => void): void;
  configure(option: 'busyTimeout', ms: number): void;
}

export interface SqliteStatement {
  all(bind: readonly unknown[], done: (error: Error | null, rows: object[]) => void): void;
  finalize(done: () => void): void;
}

/** The part of Sequelize's connection manager that is replaced here; its own types leave it out. */
export interface ConnectionManager {
  getConnection(options?: { uuid?: string }): Promise<SqliteConnection>;
  releaseConnection(connection: SqliteConnection): void;
  destroyConnection(connection: SqliteConnection): Promise<void>;
  /** Closes all connections. */
  _onProcessExit(): Promise<void>;
}

/**
 * The busiest look-ups have a SQLite connection of their own: a statement blocks its connection, and a page of
 * statistics must not hold up an authorization.
 */
export const LOOKUP_LANE = { uuid: 'lookup' } as const;
