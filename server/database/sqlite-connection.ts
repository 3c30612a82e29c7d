// The parts of the SQLite driver's connection that are used (https://github.com/TryGhost/node-sqlite3/wiki/API).

/**
 * On macOS, a plain `fsync` leaves what was written in the cache of the disk, where a power failure loses it
 * (fsync(2), https://www.sqlite.org/pragma.html#pragma_fullfsync). Other platforms ignore this.
 */
export const FLUSH_DISK_CACHE = 'PRAGMA fullfsync = ON';

export interface SqliteConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  prepare(sql: string, done: (error: Error | null) => void): SqliteStatement;
  all(sql: string, bind: readonly unknown[], done: (error: Error | null, rows: object[]) => void): void;
  run(sql: string, bind: readonly unknown[], done: RunDone): void;
  /** Statements started inside `schedule` run one at a time, each in a thread of the pool. */
  serialize(schedule: () => void): void;
  close(done: () => void): void;
  configure(option: 'busyTimeout', ms: number): void;
}

export interface SqliteStatement {
  all(bind: readonly unknown[], done: (error: Error | null, rows: object[]) => void): void;
  run(bind: readonly unknown[], done: RunDone): void;
  finalize(done: () => void): void;
}

/** Called with `this.changes`, the number of changed rows. */
export type RunDone = (this: { changes: number }, error: Error | null) => void;
