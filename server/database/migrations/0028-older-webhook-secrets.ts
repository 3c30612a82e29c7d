// The secrets of a webhook that were replaced before the previous one and still sign. The previous one stays in its
// columns, which servers of the release before read and write.
import type { Sequelize } from 'sequelize';

/** Runs inside the transaction that `migrate()` opened. */
export async function addOlderWebhookSecrets(sequelize: Sequelize): Promise<void> {
  // A JSON list; null if there are none.
  await sequelize.query('ALTER TABLE webhooks ADD COLUMN older_secrets TEXT');
}
