// What the service has to remember of itself once it has happened, such as that its first steps are over.
import type { Sequelize } from 'sequelize';

/** Runs inside the transaction that `migrate()` opened. */
export async function createServiceMarks(sequelize: Sequelize): Promise<void> {
  await sequelize.query('CREATE TABLE service_marks (name TEXT PRIMARY KEY, set_at BIGINT NOT NULL)');
}
