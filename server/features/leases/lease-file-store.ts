import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';

/** The newest file of a borrowed seat under a key. Times are epoch milliseconds. */
interface BorrowedFile {
  leaseId: number;
  signingKeyId: number;
  issuedAt: number;
  expiresAt: number;
}

const RECORD = `
  INSERT INTO borrowed_lease_files (lease_id, signing_key_id, issued_at, expires_at)
  VALUES ($leaseId, $signingKeyId, $issuedAt, $expiresAt)
  ON CONFLICT (lease_id, signing_key_id) DO UPDATE SET issued_at = excluded.issued_at, expires_at = excluded.expires_at`;
const FORGET_DISTRUSTED = `
  DELETE FROM borrowed_lease_files WHERE lease_id = $leaseId
    AND signing_key_id IN (SELECT id FROM signing_keys WHERE distrusted_at IS NOT NULL)`;

export function createLeaseFileStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  const insert = sql.statement(RECORD);
  const forget = sql.statement(FORGET_DISTRUSTED);
  return {
    /** The file stands in for those under keys that are distrusted, and may not have replaced others. */
    async record(file: BorrowedFile): Promise<void> {
      await forget.run({ leaseId: file.leaseId });
      await insert.run({ ...file });
    },
  };
}

export type LeaseFileStore = ReturnType<typeof createLeaseFileStore>;
