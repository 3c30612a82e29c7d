// Leaked signing keys, the signed distrust lists, and the key that signed each device's license file.
import type { Sequelize } from 'sequelize';

const STATEMENTS = [
  `ALTER TABLE signing_keys ADD COLUMN distrusted_at BIGINT
    CHECK (distrusted_at IS NULL OR status = 'retired')`,
  'ALTER TABLE signing_keys ADD COLUMN distrust_reason TEXT',
  'CREATE TABLE distrust_lists (sequence BIGINT PRIMARY KEY, issued_at BIGINT NOT NULL, document TEXT NOT NULL)',
  // Null if the file was signed before this migration. A foreign key would cost time on every activation.
  'ALTER TABLE activations ADD COLUMN signing_key_id BIGINT',
  // The newest license file of each license that is not bound to a device.
  `CREATE TABLE unbound_license_files (
    license_id BIGINT PRIMARY KEY REFERENCES licenses (id) ON DELETE CASCADE,
    signing_key_id BIGINT NOT NULL REFERENCES signing_keys (id),
    issued_at BIGINT NOT NULL
  )`,
  // Files issued earlier are known from the audit log.
  `INSERT INTO unbound_license_files (license_id, signing_key_id, issued_at)
    SELECT l.id, max(k.id), max(a.created_at)
    FROM audit_entries a
    JOIN licenses l ON a.subject = 'license:' || l.id
    JOIN signing_keys k ON a.created_at >= k.created_at AND (k.retired_at IS NULL OR a.created_at <= k.retired_at)
    WHERE a.action = 'license_file.issued' AND a.after_state LIKE '%"machine_fingerprint":null%'
    GROUP BY l.id`,
];

/** Runs inside the transaction that `migrate()` opened. */
export async function createDistrust(sequelize: Sequelize): Promise<void> {
  for (const statement of STATEMENTS) await sequelize.query(statement);
}
