// Custom fields of licenses: a JSON object of texts by name.
import type { Sequelize } from 'sequelize';

const STATEMENTS = [
  `ALTER TABLE licenses ADD COLUMN custom_fields TEXT NOT NULL DEFAULT '{}'`,
  // An export lists all names. Most installations have few licenses with custom fields, or none.
  `CREATE INDEX licenses_custom_fields ON licenses (id) WHERE custom_fields <> '{}'`,
];

/** Runs inside the transaction that `migrate()` opened. */
export async function addCustomFields(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
