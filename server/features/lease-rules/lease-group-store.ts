import type { Sequelize } from 'sequelize';
import { modelColumns } from '#server/database/column-lists.ts';
import { refuseDuplicate } from '#server/database/duplicate-row.ts';
import { sqlOf } from '#server/database/sql.ts';
import { defineLeaseGroup, type LeaseGroupRow } from './lease-group-model.ts';

export type LeaseGroupRecord = Omit<LeaseGroupRow, 'members'> & { members: string[]; ruleCount: number };

type SelectedRow = LeaseGroupRow & { ruleCount: number };

const RULE_COUNT = '(SELECT count(*) FROM lease_rules r WHERE r.match_group_id = g.id) AS "ruleCount"';

function toGroup({ members, ...row }: SelectedRow): LeaseGroupRecord {
  return { ...row, members: JSON.parse(members) as string[] };
}

export function createLeaseGroupStore(sequelize: Sequelize) {
  const groups = defineLeaseGroup(sequelize);
  const sql = sqlOf(sequelize);
  const columns = modelColumns(groups, 'g');
  const someMembers = sql.statement<{ id: number; members: string }>(
    `SELECT id AS "id", members AS "members" FROM lease_groups WHERE ${sql.dialect.isIn('id', 'some')}`,
  );

  async function find(where: { id: number } | { name: string }): Promise<LeaseGroupRecord | null> {
    const condition = 'id' in where ? 'g.id = $id' : 'g.name = $name';
    const row = await sql.selectFirst<SelectedRow>(
      `SELECT ${columns}, ${RULE_COUNT} FROM lease_groups g WHERE ${condition}`,
      { ...where },
    );
    return row && toGroup(row);
  }

  return {
    find,
    async findForChange(where: { id: number } | { name: string }): Promise<LeaseGroupRecord | null> {
      await sql.lock('lease_groups', { ...where });
      return find(where);
    },
    /** Oldest first, after `after`. Returns one more than `limit` if there are more. */
    async list(after: number | null, limit: number): Promise<LeaseGroupRecord[]> {
      const rows = await sql.select<SelectedRow>(
        `SELECT ${columns}, ${RULE_COUNT} FROM lease_groups g WHERE g.id > $after ORDER BY g.id LIMIT $limit`,
        { after: after ?? 0, limit: limit + 1 },
      );
      return rows.map((row) => toGroup(row));
    },
    async count(): Promise<number> {
      return (
        (await sql.selectFirst<{ count: number }>('SELECT count(*) AS "count" FROM lease_groups'))?.count ?? 0
      );
    },
    /** Kind and name of all groups: `user cad-team`. */
    async keys(): Promise<Set<string>> {
      const rows = await sql.select<{ kind: string; name: string }>(
        'SELECT kind AS "kind", name AS "name" FROM lease_groups',
      );
      return new Set(rows.map(({ kind, name }) => `${kind} ${name}`));
    },
    /** The members of some groups, by ID. Checkouts decide by them. */
    async membersOf(ids: readonly number[]): Promise<Map<number, string[]>> {
      const rows = await someMembers.all({ some: [...ids] });
      return new Map(rows.map(({ id, members }) => [id, JSON.parse(members) as string[]]));
    },
    /** @throws DuplicateRowError if the name is taken */
    async insert(group: Omit<LeaseGroupRecord, 'id' | 'ruleCount'>): Promise<LeaseGroupRecord> {
      const row = { ...group, members: JSON.stringify(group.members) };
      const created = await refuseDuplicate(groups.create(row));
      return { ...group, id: created.get('id') as number, ruleCount: 0 };
    },
    /** @throws DuplicateRowError if the new name is taken */
    async update({ id, name, members, revision, updatedAt }: LeaseGroupRecord): Promise<void> {
      const changes = { name, members: JSON.stringify(members), revision, updatedAt };
      await refuseDuplicate(groups.update(changes, { where: { id } }));
    },
    async remove(id: number): Promise<void> {
      await groups.destroy({ where: { id } });
    },
  };
}

export type LeaseGroupStore = ReturnType<typeof createLeaseGroupStore>;
