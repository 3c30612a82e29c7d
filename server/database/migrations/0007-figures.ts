// Indices for counts in the overview and the statistics, so that none of them reads a million rows.
import type { Sequelize } from 'sequelize';

const STATEMENTS = [
  'CREATE INDEX licenses_product ON licenses (product, plan_id)',
  'CREATE INDEX licenses_revoked ON licenses (revoked_at, product) WHERE revoked_at IS NOT NULL',
  // Includes columns that are null in every indexed row: SQLite would otherwise look them up in the table.
  `CREATE INDEX licenses_unused ON licenses (id, expires_at, product, revoked_at, first_activated_at)
   WHERE revoked_at IS NULL AND first_activated_at IS NULL`,
  'CREATE INDEX authorization_tokens_status ON authorization_tokens (status, expires_at, product)',
];

/** Runs inside the transaction that `migrate()` opened. */
export async function createFigureIndices(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
