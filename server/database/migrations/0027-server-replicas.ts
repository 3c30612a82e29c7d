// Which servers read lists from a replica, and how far behind it is.
import type { Sequelize } from 'sequelize';

const STATEMENTS = [
  'ALTER TABLE servers ADD COLUMN replica TEXT',
  'ALTER TABLE servers ADD COLUMN replica_lag_ms BIGINT',
];

/** Runs inside the transaction that `migrate()` opened. */
export async function addServerReplicas(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
