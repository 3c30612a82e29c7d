// The servers that use this database.
import type { Sequelize } from 'sequelize';

const STATEMENTS = [
  `CREATE TABLE servers (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    version TEXT NOT NULL,
    schema_name TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    state TEXT NOT NULL,
    is_leader INTEGER NOT NULL,
    clock_skew_ms BIGINT NOT NULL,
    database_ms BIGINT NOT NULL,
    crl_number BIGINT
  )`,
];

/** Runs inside the transaction that `migrate()` opened. */
export async function createServers(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
