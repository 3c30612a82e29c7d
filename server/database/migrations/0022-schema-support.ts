// The oldest servers that work with this schema.
import type { Sequelize } from 'sequelize';

/** Runs inside the transaction that `migrate()` opened. */
export async function createSchemaSupport(sequelize: Sequelize): Promise<void> {
  await sequelize.query(
    'CREATE TABLE schema_support (id BIGINT NOT NULL PRIMARY KEY, min_app_schema TEXT NOT NULL)',
  );
}
