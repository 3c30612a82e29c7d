import type { Sql } from './sql.ts';

/**
 * For retention: removes rows without references to them, oldest first.
 * @param age column with the row's age, in epoch milliseconds
 */
export function removeOldest(sql: Sql, table: string, age: string) {
  const text = `DELETE FROM ${table} WHERE id IN (
    SELECT id FROM ${table} WHERE ${age} < $before ORDER BY ${age}, id LIMIT $limit)`;
  /** @returns the number of removed rows, at most `limit` */
  return (before: number, limit: number): Promise<number> => sql.run(text, { before, limit });
}
