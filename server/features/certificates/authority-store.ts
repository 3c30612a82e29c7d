import type { Sequelize } from 'sequelize';
import { insertInto } from '#server/database/insert-row.ts';
import { preparedQuery } from '#server/database/prepared-query.ts';
import { lockRow } from '#server/database/transaction.ts';
import { type AuthorityRow, defineAuthority } from './authority-model.ts';

const COLUMNS = `
  id AS "id", key_identifier AS "keyIdentifier", certificate AS "certificate", chain AS "chain",
  private_key_sealed AS "privateKeySealed", not_after AS "notAfter", origin AS "origin", status AS "status", created_at AS "createdAt"`;

export function createAuthorityStore(sequelize: Sequelize) {
  const query = preparedQuery(sequelize);
  return {
    /** What tells whether the authority in memory is still the active one. */
    async activeId(): Promise<number | null> {
      const [row] = await query<{ id: number }>(
        `SELECT id AS "id" FROM certificate_authorities WHERE status = 'active'`,
        [],
      );
      return row?.id ?? null;
    },
    /** Until the transaction ends: `SHARE` to issue under the active one, `UPDATE` to put another in its place. */
    lockActive: (strength: 'UPDATE' | 'SHARE') =>
      lockRow(sequelize, 'certificate_authorities', { status: 'active' }, strength),
    /** The active one first, then the retired ones, newest first. */
    list: (): Promise<AuthorityRow[]> =>
      query<AuthorityRow>(`SELECT ${COLUMNS} FROM certificate_authorities ORDER BY status, id DESC`, []),
    insert: insertInto(query, defineAuthority(sequelize)),
    async retireActive(): Promise<void> {
      await query(`UPDATE certificate_authorities SET status = 'retired' WHERE status = 'active'`, []);
    },
  };
}

export type AuthorityStore = ReturnType<typeof createAuthorityStore>;
