// Rows that a transaction writes only right before its commit, together with those of the others in its group.
import { runCompiled } from './compiled-statements.ts';
import { type LaterRow, type LaterTable, openTransaction } from './current-transaction.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

/** Each size is a statement that stays compiled, so there are few. A group of changes usually has fewer than 16 rows. */
const SIZES = [64, 32, 16, 8, 4, 2, 1] as const;

/** Keeps the row until the commit. @returns false outside a transaction that takes such rows */
export function keepForCommit(table: LaterTable, values: readonly unknown[]): boolean {
  const later = openTransaction.getStore()?.later;
  if (!later) return false;
  later.push({ table, values });
  return true;
}

/** Inserts the rows of each table in their order, on SQLite. */
export async function writeLater(connection: SqliteConnection, rows: readonly LaterRow[]): Promise<void> {
  for (const [table, some] of Map.groupBy(rows, (row) => row.table)) {
    const ids: number[] = [];
    for (let start = 0; start < some.length;) {
      const size = SIZES.find((fitting) => fitting <= some.length - start) ?? 1;
      const values = some.slice(start, start + size).flatMap((row) => row.values);
      const inserted = await runCompiled<{ id: number }>(connection, table.insert(size), values);
      ids.push(...inserted.map(({ id }) => id));
      start += size;
    }
    await table.onInserted?.(ids);
  }
}

/** The same on PostgreSQL. */
export async function writeLaterOnPostgres(rows: readonly LaterRow[]): Promise<void> {
  for (const [table, some] of Map.groupBy(rows, (row) => row.table)) {
    // Outside the optional call, which would not evaluate it.
    const ids = await table.insertAll(some.map(({ values }) => values));
    await table.onInserted?.(ids);
  }
}
