// Building indices once is cheaper than maintaining them row by row.
import type { SqliteConnection } from './sqlite-connection.ts';

interface Index {
  name: string;
  sql: string;
}

/** Drops every index created by `CREATE INDEX`, within the caller's transaction. */
export async function dropSecondaryIndices(connection: SqliteConnection): Promise<Index[]> {
  const indices = await connection.all<Index>(
    `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL`,
  );
  for (const { name } of indices) await connection.exec(`DROP INDEX ${name}`);
  return indices;
}

export async function createIndices(connection: SqliteConnection, indices: readonly Index[]): Promise<void> {
  for (const { sql } of indices) await connection.exec(sql);
}
