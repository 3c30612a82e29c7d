import type { Values } from '#server/database/named-values.ts';
import type { SqliteFile } from '#server/database/sqlite-file.ts';
import type { Listed } from './restore-preview.ts';

/** Everything is counted, but no more than this is listed. */
const MAX_LISTED = 10_000;

export async function listRows<Row extends object, Item>(
  database: SqliteFile,
  sql: string,
  values: Values,
  toItem: (row: Row) => Item,
): Promise<Listed<Item>> {
  const rows = await database.all<Row>(`${sql} LIMIT ${MAX_LISTED}`, values);
  if (rows.length < MAX_LISTED) return { count: rows.length, items: rows.map(toItem) };
  const [total] = await database.all<{ count: number }>(`SELECT count(*) AS count FROM (${sql})`, values);
  return { count: total?.count ?? 0, items: rows.map(toItem) };
}
