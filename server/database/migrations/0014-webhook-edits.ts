// Pausing a webhook, and the result of its last test event.
import type { Sequelize } from 'sequelize';

const STATEMENTS = [
  // Null while it is not paused.
  'ALTER TABLE webhooks ADD COLUMN paused_at BIGINT',
  'ALTER TABLE webhooks ADD COLUMN last_test_at BIGINT',
  // Null if the test event was accepted.
  'ALTER TABLE webhooks ADD COLUMN last_test_error TEXT',
];

/** Runs inside the transaction that `migrate()` opened. */
export async function addWebhookEdits(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
