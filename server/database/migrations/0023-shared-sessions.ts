// Back office sessions that are valid on every server of the database.
import type { Sequelize } from 'sequelize';

const STATEMENTS = [
  `CREATE TABLE admin_sessions (
    id TEXT NOT NULL PRIMARY KEY,
    secret_hash TEXT NOT NULL UNIQUE,
    signed_in_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    user_agent TEXT
  )`,
  `CREATE TABLE sign_in_codes (
    code_hash TEXT NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
  )`,
];

/** Runs inside the transaction that `migrate()` opened. */
export async function createSharedSessions(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
