// API token networks and expiry, and the previous secret during the overlap after a rotation.
import type { Sequelize } from 'sequelize';

const STATEMENTS = [
  'ALTER TABLE api_tokens ADD COLUMN expires_at BIGINT',
  // A JSON list; null allows any network.
  'ALTER TABLE api_tokens ADD COLUMN networks TEXT',
  'ALTER TABLE api_tokens ADD COLUMN previous_hash TEXT',
  'ALTER TABLE api_tokens ADD COLUMN previous_last_four TEXT',
  'ALTER TABLE api_tokens ADD COLUMN previous_expires_at BIGINT',
  'ALTER TABLE api_tokens ADD COLUMN previous_last_used_at BIGINT',
  'CREATE UNIQUE INDEX api_tokens_previous_hash ON api_tokens (previous_hash)',
];

/** Runs inside the transaction that `migrate()` opened. */
export async function addApiTokenLimits(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
