// Inserts many rows per statement, which makes a million rows fast.
import type { PreparedStatement, SqliteConnection, SqlValue } from './sqlite-connection.ts';

/** SQLite allows 32,766 values per statement. A few thousand are as fast and fit the CPU cache. */
const VALUES_PER_STATEMENT = 4000;

export interface BulkInsert {
  /** One value per column. */
  add(...row: SqlValue[]): void;
  /** Inserts the rows of full statements; the rest stays buffered. */
  flush(): Promise<void>;
  /** Inserts all remaining rows. */
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
