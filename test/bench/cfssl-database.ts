// A SQLite database for cfssl, which creates none itself.
import { DatabaseSync } from 'node:sqlite';

/** From certdb/sqlite/migrations of cfssl 1.2.0. */
const SCHEMA = `
  CREATE TABLE certificates (
    serial_number            bytea NOT NULL,
    authority_key_identifier bytea NOT NULL,
    ca_label                 bytea,
    status                   bytea NOT NULL,
    reason                   int,
    expiry                   timestamp,
    revoked_at               timestamp,
    pem                      bytea NOT NULL,
    PRIMARY KEY(serial_number, authority_key_identifier)
  );
  CREATE TABLE ocsp_responses (
    serial_number            bytea NOT NULL,
    authority_key_identifier bytea NOT NULL,
    body                     bytea NOT NULL,
    expiry                   timestamp,
    PRIMARY KEY(serial_number, authority_key_identifier),
    FOREIGN KEY(serial_number, authority_key_identifier)
      REFERENCES certificates(serial_number, authority_key_identifier)
  );`;

/**
 * As durable as the service: cfssl's driver does not wait for the disk by default. All its connections compete for the one
 * lock, so it also has to wait longer for that before it refuses a call.
 */
const PARAMETERS = '_synchronous=FULL&_busy_timeout=60000';

/** @returns what `-db-config` expects */
export function createCfsslDatabase(file: string): { driver: string; data_source: string } {
  const database = new DatabaseSync(file);
  // The file keeps this mode, which takes fewer writes than the default.
  database.exec(`PRAGMA journal_mode = WAL; ${SCHEMA}`);
  database.close();
  return { driver: 'sqlite3', data_source: `${file}?${PARAMETERS}` };
}

export function countStored(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const row = database.prepare('SELECT count(*) AS stored FROM certificates').get();
  database.close();
  return Number(row?.['stored']);
}
