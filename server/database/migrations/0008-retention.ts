// What retention keeps: totals of the removed rows, and notices that must not be sent twice.
import type { Sequelize } from 'sequelize';

const STATEMENTS = [
  // Notices whose events have been removed. Only those of the current term matter.
  `CREATE TABLE license_notices (
    license_id BIGINT NOT NULL REFERENCES licenses (id),
    name TEXT NOT NULL,
    term BIGINT NOT NULL,
    PRIMARY KEY (license_id, name, term)
  )`,
  'CREATE TABLE pruned_deliveries (status TEXT PRIMARY KEY, count BIGINT NOT NULL)',
  `CREATE TABLE retention_runs (
    kind TEXT PRIMARY KEY,
    ran_at BIGINT NOT NULL,
    removed BIGINT NOT NULL,
    removed_total BIGINT NOT NULL
  )`,
  'CREATE INDEX events_age ON events (created_at, id)',
];

/** Runs inside the transaction that `migrate()` opened. */
export async function createRetentionTables(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
