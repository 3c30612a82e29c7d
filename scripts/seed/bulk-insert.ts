// Inserts many rows per statement, which is what makes a million of them quick.
import type { PreparedStatement, SqliteConnection, SqlValue } from './sqlite-connection.ts';

/** SQLite takes at most 32,766 values a statement; a few thousand are as fast and stay in the processor's cache. */
const VALUES_PER_STATEMENT = 4000;

export interface BulkInsert {
  /** One value per column. */
  add(...row: SqlValue[]): void;
  /** Inserts what full statements hold; the rest waits for more. */
  flush(): Promise<void>;
  /** Inserts the rest too. */
  finish(): Promise<void>;
  /** Rows added so far. */
  count(): number;
}

function insertSql(table: string, columns: readonly string[], rows: number): string {
  const row = `(${columns.map(() => '?').join(', ')})`;
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${Array.from({ length: rows }, () => row).join(', ')}`;
}

export async function createBulkInsert(
  connection: SqliteConnection,
  table: string,
  columns: readonly string[],
): Promise<BulkInsert> {
  const width = columns.length;
  const batch = Math.floor(VALUES_PER_STATEMENT / width) * width;
  const statement: PreparedStatement = await connection.prepare(insertSql(table, columns, batch / width));
  let waiting: SqlValue[] = [];
  let added = 0;

  async function flush(): Promise<void> {
    let at = 0;
    for (; at + batch <= waiting.length; at += batch) await statement.run(waiting.slice(at, at + batch));
    waiting = waiting.slice(at);
  }
  return {
    add(...row) {
      waiting.push(...row);
      added += 1;
    },
    flush,
    async finish() {
      await flush();
      await statement.finalize();
      if (waiting.length > 0)
        await connection.run(insertSql(table, columns, waiting.length / width), waiting);
      waiting = [];
    },
    count: () => added,
  };
}
