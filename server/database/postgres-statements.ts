// Runs statements with numbered values on PostgreSQL. Hot ones are parsed and planned once per connection.
import type { Sequelize } from 'sequelize';
import { currentTransaction, openTransaction, writingTransaction } from './current-transaction.ts';
import type { PostgresConnection, PostgresQuery, PostgresResult } from './postgres-connection.ts';
import { askPostgres, postgresConnectionOf, usePostgresConnection } from './sequelize-internals.ts';
import { orHung } from './stalled.ts';

/** Other statements may write. */
export const READS = /^\s*SELECT\b/u;

/** PostgreSQL has no texts with a NUL. */
export const withoutNul = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', String.raw`\0`) : value;

/**
 * Takes part in the current transaction, if there is one.
 * @param isShort whether a connection that takes long to answer is lost
 * @throws errors of Sequelize's classes
 */
export function queryPostgres(
  sequelize: Sequelize,
  query: PostgresQuery,
  isShort: boolean,
): Promise<PostgresResult> {
  const bound = { ...query, values: query.values.map(withoutNul) };
  // Others wait for a group.
  const isBounded = isShort || openTransaction.getStore()?.group !== undefined;
  const transaction = READS.test(query.text) ? currentTransaction() : writingTransaction();
  const ask = (connection: PostgresConnection) => {
    const asked = askPostgres(sequelize, connection, bound);
    return isBounded ? orHung(connection, asked) : asked;
  };
  return transaction ? ask(postgresConnectionOf(transaction)) : usePostgresConnection(sequelize, ask);
}
