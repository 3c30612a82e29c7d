// License files that a later one may not have replaced on their device, and files of borrowed seats, with their keys.
import type { Sequelize } from 'sequelize';

const usedAt = (at: string): string => `${at} >= k.created_at AND ${at} <= k.retired_at`;

/** The key that replaces a distrusted active one is a moment older than the distrust. */
const MOMENT_MS = 60_000;

const STATEMENTS = [
  // On PostgreSQL, the check of a foreign key waits for changes of that row. Changes that share a commit must not wait.
  `CREATE TABLE earlier_license_files (
    license_id BIGINT NOT NULL,
    -- 0 for a file that is not bound to a device.
    activation_id BIGINT NOT NULL,
    signing_key_id BIGINT NOT NULL,
    issued_at BIGINT NOT NULL,
    -- When the first file under a later key was issued.
    replaced_at BIGINT NOT NULL,
    -- 0 if the key is inferred from a time.
    recorded BIGINT NOT NULL,
    PRIMARY KEY (license_id, activation_id, signing_key_id)
  )`,
  `CREATE TABLE borrowed_lease_files (
    lease_id BIGINT NOT NULL REFERENCES leases (id) ON DELETE CASCADE,
    signing_key_id BIGINT NOT NULL,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (lease_id, signing_key_id)
  )`,
  // A device got its first file when it was activated. When it got the newest one is not known.
  `INSERT INTO earlier_license_files (license_id, activation_id, signing_key_id, issued_at, replaced_at, recorded)
    SELECT a.license_id, a.id, k.id, a.activated_at, newest.created_at, 0
    FROM activations a
    JOIN signing_keys newest ON newest.id = a.signing_key_id
    JOIN signing_keys k ON k.id <> newest.id AND ${usedAt('a.activated_at')}
    WHERE a.released_at IS NULL AND (k.distrusted_at IS NULL OR newest.created_at < k.distrusted_at - ${MOMENT_MS})`,
  // The audit log knows all files that are not bound to a device, except those that were exchanged.
  `INSERT INTO earlier_license_files (license_id, activation_id, signing_key_id, issued_at, replaced_at, recorded)
    SELECT u.license_id, 0, k.id, max(a.created_at), u.issued_at, 1
    FROM unbound_license_files u
    JOIN audit_entries a ON a.subject = 'license:' || u.license_id AND a.action = 'license_file.issued'
    JOIN signing_keys k ON k.id <> u.signing_key_id AND ${usedAt('a.created_at')}
    WHERE a.after_state LIKE '%"machine_fingerprint":null%'
      AND (k.distrusted_at IS NULL OR u.issued_at < k.distrusted_at)
    GROUP BY u.license_id, k.id, u.issued_at`,
  // The heartbeat of a borrowed lease is the time of its newest file.
  `INSERT INTO borrowed_lease_files (lease_id, signing_key_id, issued_at, expires_at)
    SELECT e.id, max(k.id), e.heartbeat_at, e.borrowed_until
    FROM leases e
    JOIN signing_keys k ON e.heartbeat_at >= k.created_at AND (k.retired_at IS NULL OR e.heartbeat_at <= k.retired_at)
    WHERE e.state = 'borrowed'
    GROUP BY e.id, e.heartbeat_at, e.borrowed_until`,
];

/** Runs inside the transaction that `migrate()` opened. */
export async function createEarlierFiles(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
