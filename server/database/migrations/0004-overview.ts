// Indices for the overview and the audit log, so that a million rows do not slow them down.
import type { Sequelize } from 'sequelize';
import type { Dialect } from '../connect.ts';

const audit = (bytewise: string): string[] => [
  'CREATE INDEX audit_entries_action ON audit_entries (action, id)',
  'CREATE INDEX audit_entries_actor ON audit_entries (actor_name, id)',
  'CREATE INDEX audit_entries_time ON audit_entries (created_at, id)',
  `CREATE INDEX audit_entries_request ON audit_entries (request_id ${bytewise})`,
];

/**
 * Covers everything that determines a license's state, so that counting reads no rows. SQLite has licenses_expiry for
 * this.
 */
const POSTGRES = [
  'CREATE INDEX licenses_standing ON licenses (expires_at, plan_id, first_activated_at) WHERE revoked_at IS NULL',
];

/** Runs inside the transaction that `migrate()` opened. */
export async function createOverviewIndices(sequelize: Sequelize, dialect: Dialect): Promise<void> {
  const isPostgres = dialect === 'postgres';
  const statements = [
    ...audit(isPostgres ? 'COLLATE "C"' : 'COLLATE BINARY'),
    ...(isPostgres ? POSTGRES : []),
  ];
  for (const statement of statements) await sequelize.query(statement);
}
