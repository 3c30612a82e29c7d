// Runs statements with numbered values on PostgreSQL. Hot ones are parsed and planned once per connection.
import type { Sequelize } from 'sequelize';
import { currentTransaction, writingTransaction } from './current-transaction.ts';
import type { PostgresQuery, PostgresResult } from './postgres-connection.ts';
import { askPostgres, postgresConnectionOf, usePostgresConnection } from './sequelize-internals.ts';

/** Other statements may write. */
export const READS = /^\s*SELECT\b/u;

/** PostgreSQL has no texts with a NUL. */
const withoutNul = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', String.raw`\0`) : value;

/** Takes part in the current transaction, if there is one. @throws errors of Sequelize's classes */
export function queryPostgres(sequelize: Sequelize, query: PostgresQuery): Promise<PostgresResult> {
  const bound = { ...query, values: query.values.map(withoutNul) };
  const transaction = READS.test(query.text) ? currentTransaction() : writingTransaction();
  if (transaction) return askPostgres(sequelize, postgresConnectionOf(transaction), bound);
  return usePostgresConnection(sequelize, (connection) => askPostgres(sequelize, connection, bound));
}
