import type { Sequelize } from 'sequelize';
import type { Lookup } from '#server/database/batched-lookup.ts';
import { modelColumns } from '#server/database/column-lists.ts';
import { sqlOf } from '#server/database/sql.ts';
import { type AuthorityRow, defineAuthority } from './authority-model.ts';

const ACTIVE_ID: Lookup<true> = {
  columns: 'id AS "id"',
  from: `certificate_authorities WHERE status = 'active'`,
  values: () => ({}),
};
const RETIRE = `UPDATE certificate_authorities SET status = 'retired' WHERE status = 'active'`;

export function createAuthorityStore(sequelize: Sequelize) {
  const authorities = defineAuthority(sequelize);
  const sql = sqlOf(sequelize);
  const active = sql.batched<true, { id: number }>(ACTIVE_ID);
  const activeFirst = sql.batchedFirst<true, { id: number }>(ACTIVE_ID);
  const all = sql.statement<AuthorityRow>(
    `SELECT ${modelColumns(authorities)} FROM certificate_authorities ORDER BY status, id DESC`,
  );
  const activeId = async (): Promise<number | null> => (await active(true))?.id ?? null;
  return {
    /** Shows whether the cached authority is still the active one. */
    activeId,
    /** The same in the first read of a change. */
    activeIdFirst: async (): Promise<number | null> => (await activeFirst(true))?.id ?? null,
    /** Lasts until the transaction ends: `SHARE` to issue certificates, `UPDATE` to replace the authority. */
    async lockActive(strength: 'UPDATE' | 'SHARE'): Promise<void> {
      const lock = () => sql.lock('certificate_authorities', { status: 'active' }, strength);
      // The one that it waited for may have been replaced meanwhile.
      while (!(await lock()) && (await activeId()) !== null);
    },
    /** The active one first, then the retired ones, newest first. */
    list: (): Promise<AuthorityRow[]> => all.all(),
    insert: sql.insert(authorities),
    async retireActive(): Promise<void> {
      await sql.run(RETIRE);
    },
  };
}

export type AuthorityStore = ReturnType<typeof createAuthorityStore>;
