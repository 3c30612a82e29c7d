import type { Sql } from './sql.ts';

/**
 * For retention: removes rows that nothing refers to, oldest first.
 * @param age the column that holds their age, in epoch milliseconds
 */
export function removeOldest(sql: Sql, table: string, age: string) {
  const text = `DELETE FROM ${table} WHERE id IN (
    SELECT id FROM ${table} WHERE ${age} < $before ORDER BY ${age}, id LIMIT $limit)`;
  /** @returns how many were removed, at most `limit` */
  return (before: number, limit: number): Promise<number> => sql.run(text, { before, limit });
}
