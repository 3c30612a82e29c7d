// Indices of the few rows that something looks for among many.
import type { Sequelize } from 'sequelize';

const STATEMENTS = [
  // The entries that are new in a CRL, and those that no CRL has yet.
  'CREATE INDEX revocation_entries_first_listed ON revocation_entries (first_listed_in)',
  'DROP INDEX revocation_entries_unlisted',
  // Most activations are not released: the others are counted.
  'CREATE INDEX activations_released ON activations (released_at) WHERE released_at IS NOT NULL',
];

/** Runs inside the transaction that `migrate()` opened. */
export async function createCountIndices(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
