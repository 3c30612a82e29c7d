// Metadata for order systems, and triggers that keep the search index current when the holder or email address changes.
import type { Sequelize } from 'sequelize';
import type { Dialect } from '../connect.ts';

const COLUMNS = [
  'ALTER TABLE licenses ADD COLUMN order_number TEXT',
  'ALTER TABLE licenses ADD COLUMN notes TEXT',
];

// A contentless index must receive the old text, or it would still find the license by it.
const SQLITE = [
  `CREATE TRIGGER licenses_search_change AFTER UPDATE OF search_text ON licenses
    WHEN old.search_text <> new.search_text BEGIN
    INSERT INTO license_words (license_words, rowid, words)
      VALUES ('delete', old.id, old.search_text || char(10, 10));
    INSERT INTO license_words (rowid, words) VALUES (new.id, new.search_text || char(10, 10));
  END`,
];

/** Runs inside the transaction that `migrate()` opened. */
export async function addLicenseDetails(sequelize: Sequelize, dialect: Dialect): Promise<void> {
  const statements = dialect === 'sqlite' ? [...COLUMNS, ...SQLITE] : COLUMNS;
  for (const statement of statements) await sequelize.query(statement);
}
