// A restore revokes certificates whose licenses are not in the backup: their entries have no certificate.
import type { Sequelize } from 'sequelize';
import type { Dialect } from '../connect.ts';

/** SQLite cannot change a column. Nothing refers to the table. */
const SQLITE = [
  'ALTER TABLE revocation_entries RENAME TO old_revocation_entries',
  `CREATE TABLE revocation_entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    certificate_id BIGINT UNIQUE REFERENCES certificates (id),
    authority_key TEXT NOT NULL,
    not_after BIGINT NOT NULL,
    der_hex TEXT NOT NULL,
    json TEXT NOT NULL,
    first_listed_in BIGINT
  )`,
  `INSERT INTO revocation_entries (id, certificate_id, authority_key, not_after, der_hex, json, first_listed_in)
    SELECT id, certificate_id, authority_key, not_after, der_hex, json, first_listed_in FROM old_revocation_entries`,
  'DROP TABLE old_revocation_entries',
  'CREATE INDEX revocation_entries_first_listed ON revocation_entries (first_listed_in)',
];

const POSTGRES = ['ALTER TABLE revocation_entries ALTER COLUMN certificate_id DROP NOT NULL'];

/** Runs inside the transaction that `migrate()` opened. */
export async function allowLostCertificates(sequelize: Sequelize, dialect: Dialect): Promise<void> {
  for (const statement of dialect === 'postgres' ? POSTGRES : SQLITE) await sequelize.query(statement);
}
