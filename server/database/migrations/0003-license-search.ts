// Indices to find licenses among a million: one per sort order, and for parts of texts, keys and fingerprints.
import type { Sequelize } from 'sequelize';
import type { Dialect } from '../connect.ts';

/** SQL that splits a text into pieces of three characters, `stride` apart, separated by spaces. */
function chunks(text: string, length: number, stride: number): string {
  const starts = Array.from(
    { length: Math.floor((length - 3) / stride) + 1 },
    (_, index) => index * stride + 1,
  );
  return starts.map((start) => `substr(${text}, ${start}, 3)`).join(` || ' ' || `);
}

// The indices store row IDs, not texts. Keys and fingerprints are random, so a few pieces identify them with a fraction
// of the space of all pieces.
const LEAN = `content = '', columnsize = 0, detail = none`;
const words = (row: string) => `${row}.search_text || char(10, 10)`;
const keyChunks = (row: string) => chunks(`replace(${row}.license_key, '-', '')`, 25, 3);
const fingerprintChunks = (row: string) => chunks(`substr(${row}.machine_fingerprint, 8)`, 64, 4);

/** The indices cover all filter columns, so that skipping a license does not read its row. */
const SQLITE = [
  'CREATE INDEX licenses_newest ON licenses (id, expires_at, plan_id, product, revoked_at, first_activated_at)',
  'CREATE INDEX licenses_expiry ON licenses (expires_at, id, plan_id, product, revoked_at, first_activated_at)',
  'CREATE INDEX licenses_holder ON licenses (search_text, id, expires_at, plan_id, product, revoked_at, first_activated_at)',
  `CREATE VIRTUAL TABLE license_words USING fts5(words, ${LEAN}, tokenize = 'trigram case_sensitive 1')`,
  `CREATE VIRTUAL TABLE license_word_terms USING fts5vocab(license_words, 'row')`,
  `CREATE VIRTUAL TABLE license_key_chunks USING fts5(chunks, ${LEAN}, tokenize = 'ascii')`,
  `CREATE VIRTUAL TABLE fingerprint_chunks USING fts5(chunks, ${LEAN}, tokenize = 'ascii')`,
  `INSERT INTO license_words (rowid, words) SELECT l.id, ${words('l')} FROM licenses l`,
  `INSERT INTO license_key_chunks (rowid, chunks) SELECT l.id, ${keyChunks('l')} FROM licenses l`,
  `INSERT INTO fingerprint_chunks (rowid, chunks) SELECT a.id, ${fingerprintChunks('a')} FROM activations a`,
  `CREATE TRIGGER licenses_search AFTER INSERT ON licenses BEGIN
    INSERT INTO license_words (rowid, words) VALUES (new.id, ${words('new')});
    INSERT INTO license_key_chunks (rowid, chunks) VALUES (new.id, ${keyChunks('new')});
  END`,
  `CREATE TRIGGER activations_search AFTER INSERT ON activations BEGIN
    INSERT INTO fingerprint_chunks (rowid, chunks) VALUES (new.id, ${fingerprintChunks('new')});
  END`,
];

const POSTGRES = [
  'CREATE INDEX licenses_expiry ON licenses (expires_at, id)',
  // An index entry must not be longer than a third of a page.
  'CREATE INDEX licenses_holder ON licenses ((left(search_text, 200) COLLATE "C"), id)',
  // Without the extension, or without permission to create it, searches read the texts.
  `DO $trigrams$ BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX licenses_words ON licenses USING gin (search_text gin_trgm_ops);
    CREATE INDEX licenses_key_part ON licenses USING gin (replace(license_key, '-', '') gin_trgm_ops);
    CREATE INDEX activations_fingerprint_part ON activations USING gin (machine_fingerprint gin_trgm_ops);
  EXCEPTION WHEN OTHERS THEN NULL;
  END $trigrams$`,
];

/** Runs inside the transaction that `migrate()` opened. */
export async function createLicenseSearch(sequelize: Sequelize, dialect: Dialect): Promise<void> {
  const statements = dialect === 'postgres' ? POSTGRES : SQLITE;
  // Every license page looks up the license's tokens.
  const shared = 'CREATE INDEX authorization_tokens_license ON authorization_tokens (license_id)';
  for (const statement of [...statements, shared]) await sequelize.query(statement);
}
