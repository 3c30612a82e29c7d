// What the overview and the statistics would otherwise count or look up row by row.
import type { Sequelize } from 'sequelize';
import type { Dialect } from '../connect.ts';

const STATEMENTS = [
  'DROP INDEX licenses_revoked',
  // Includes what tells whether a revoked license was active, so that counting reads no rows.
  `CREATE INDEX licenses_revoked ON licenses (revoked_at, product, first_activated_at, expires_at)
   WHERE revoked_at IS NOT NULL`,
];

const count = (row: 'old' | 'new', by: 1 | -1) =>
  `INSERT INTO license_kinds (product, plan_id, count) VALUES (${row}.product, ${row}.plan_id, ${by})
   ON CONFLICT (product, plan_id) DO UPDATE SET count = count + ${by};`;

/** The number of licenses per product and plan. Those of PostgreSQL come with migration 0026. */
const KINDS = [
  `CREATE TABLE license_kinds (
    product TEXT NOT NULL,
    plan_id BIGINT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (product, plan_id)
  ) WITHOUT ROWID`,
  `INSERT INTO license_kinds (product, plan_id, count)
   SELECT product, plan_id, count(*) FROM licenses GROUP BY product, plan_id`,
  `CREATE TRIGGER licenses_kind AFTER INSERT ON licenses BEGIN ${count('new', 1)} END`,
  `CREATE TRIGGER licenses_kind_end AFTER DELETE ON licenses BEGIN ${count('old', -1)} END`,
  `CREATE TRIGGER licenses_kind_change AFTER UPDATE OF product, plan_id ON licenses
   WHEN old.product <> new.product OR old.plan_id <> new.plan_id BEGIN ${count('old', -1)} ${count('new', 1)} END`,
];

/** Runs inside the transaction that `migrate()` opened. */
export async function createKeptFigures(sequelize: Sequelize, dialect: Dialect): Promise<void> {
  for (const statement of dialect === 'sqlite' ? [...STATEMENTS, ...KINDS] : STATEMENTS)
    await sequelize.query(statement);
}
