// Databases for tests on PostgreSQL, in the cluster that all test files of a run share.
import type { Sequelize, Transaction } from 'sequelize';
import { inject } from 'vitest';
import { selectRows } from './database.ts';

async function askFor(path: string): Promise<string> {
  const response = await fetch(new URL(path, inject('postgres')));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

/** Added to an address, lets changes wait for locks for longer: many at once on a busy machine. */
export const PATIENT = '?lock_timeout=60000';

/** The address of a new, empty database. */
export function newPostgresDatabase(): Promise<string> {
  return askFor('/');
}

/** The address of a new database that a server finds nothing to migrate in. */
export function newMigratedPostgresDatabase(): Promise<string> {
  return askFor('/migrated');
}

/** Runs statements in a transaction that PostgreSQL leaves open, however long it is idle. */
export async function lastingTransaction(
  sequelize: Sequelize,
  ...statements: string[]
): Promise<Transaction> {
  const transaction = await sequelize.transaction();
  await sequelize.query('SET LOCAL idle_in_transaction_session_timeout = 0', { transaction });
  for (const statement of statements) await sequelize.query(statement, { transaction });
  return transaction;
}

/** Begins a transaction that the building of an index waits for, because it could still read the table as it was. */
export function readingLicenses(sequelize: Sequelize): Promise<Transaction> {
  return lastingTransaction(
    sequelize,
    'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    'SELECT 1 FROM licenses',
  );
}

/** How many statements in the database wait for a lock. @param pattern a regular expression that they match */
export async function countLockWaiters(url: string, pattern = ''): Promise<number> {
  const waiting = await selectRows(
    url,
    `SELECT 1 FROM pg_stat_activity
     WHERE wait_event_type = 'Lock' AND datname = current_database() AND query ~ '${pattern}'`,
  );
  return waiting.length;
}
