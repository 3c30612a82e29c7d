// Databases for tests on PostgreSQL, in the cluster that all test files of a run share.
import type { Sequelize, Transaction } from 'sequelize';
import { inject } from 'vitest';

/** The address of a new, empty database. */
export async function newPostgresDatabase(): Promise<string> {
  const response = await fetch(inject('postgres'));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

/** Begins a transaction that the building of an index waits for, because it could still read the table as it was. */
export async function readingLicenses(sequelize: Sequelize): Promise<Transaction> {
  const transaction = await sequelize.transaction();
  await sequelize.query('SET LOCAL idle_in_transaction_session_timeout = 0', { transaction });
  await sequelize.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ', { transaction });
  await sequelize.query('SELECT 1 FROM licenses', { transaction });
  return transaction;
}
