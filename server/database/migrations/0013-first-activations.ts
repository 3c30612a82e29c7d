// The index for the number of active licenses over time, on the overview.
import type { Sequelize } from 'sequelize';

/** Runs inside the transaction that `migrate()` opened. */
export async function createFirstActivationIndex(sequelize: Sequelize): Promise<void> {
  // With the expiry, so that counting reads the index alone.
  await sequelize.query(
    `CREATE INDEX licenses_first_activated ON licenses (first_activated_at, expires_at)
     WHERE first_activated_at IS NOT NULL`,
  );
}
