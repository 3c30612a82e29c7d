// Finds the entries that are new in a CRL, and those that no CRL has yet.
import type { Sequelize } from 'sequelize';

const STATEMENTS = [
  'CREATE INDEX revocation_entries_first_listed ON revocation_entries (first_listed_in)',
  'DROP INDEX revocation_entries_unlisted',
];

/** Runs inside the transaction that `migrate()` opened. */
export async function indexFirstListed(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
