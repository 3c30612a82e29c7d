// One-time events that the service has to remember, such as completing the first steps.
import type { Sequelize } from 'sequelize';

/** Runs inside the transaction that `migrate()` opened. */
export async function createServiceMarks(sequelize: Sequelize): Promise<void> {
  await sequelize.query('CREATE TABLE service_marks (name TEXT PRIMARY KEY, set_at BIGINT NOT NULL)');
}
