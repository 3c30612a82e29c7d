// When a device was last seen, and which device it has replaced.
import type { Sequelize } from 'sequelize';

const STATEMENTS = [
  'ALTER TABLE activations ADD COLUMN last_seen_at BIGINT',
  'ALTER TABLE activations ADD COLUMN replaces_id BIGINT REFERENCES activations (id)',
  // A repeated replacement looks for the device that took the seat.
  `CREATE UNIQUE INDEX activations_replaces ON activations (replaces_id) WHERE replaces_id IS NOT NULL`,
];

/** Runs inside the transaction that `migrate()` opened. */
export async function addDeviceHistory(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
