import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';
import type { LeaseGroupKind } from './lease-group-contract.ts';
import { defineLeaseRule, type LeaseRuleRow } from './lease-rule-model.ts';

/** A rule with the names that its reply shows. */
export interface LeaseRuleRecord extends LeaseRuleRow {
  licenseKey: string;
  groupName: string | null;
  groupKind: LeaseGroupKind | null;
  groupRevision: number | null;
}

export interface RulePosition {
  license: number;
  position: number;
}

const SELECT = `
  SELECT r.id AS "id", r.license_id AS "licenseId", r.position AS "position", r.type AS "type",
    r.match_user AS "matchUser", r.match_host AS "matchHost", r.match_group_id AS "matchGroupId",
    r.match_address AS "matchAddress", r.units AS "units", r.note AS "note", r.created_at AS "createdAt",
    r.updated_at AS "updatedAt", l.license_key AS "licenseKey", g.name AS "groupName", g.kind AS "groupKind",
    g.revision AS "groupRevision"
  FROM lease_rules r JOIN licenses l ON l.id = r.license_id LEFT JOIN lease_groups g ON g.id = r.match_group_id`;

const SHIFT = `
  UPDATE lease_rules SET position = position + $by
  WHERE license_id = $licenseId AND position >= $first AND position <= $last`;

const LAST = Number.MAX_SAFE_INTEGER;

export function createLeaseRuleStore(sequelize: Sequelize) {
  const rules = defineLeaseRule(sequelize);
  const sql = sqlOf(sequelize);
  const insert = sql.insert(rules);
  const ofLicense = sql.statement<LeaseRuleRecord>(
    `${SELECT} WHERE r.license_id = $licenseId ORDER BY r.position`,
  );
  const shift = (licenseId: number, first: number, last: number, by: 1 | -1) =>
    sql.run(SHIFT, { licenseId, first, last, by });

  return {
    find: (id: number): Promise<LeaseRuleRecord | null> =>
      sql.selectFirst<LeaseRuleRecord>(`${SELECT} WHERE r.id = $id`, { id }),
    /** All rules of a license in order; called at each checkout. */
    listOf: (licenseId: number): Promise<LeaseRuleRecord[]> => ofLicense.all({ licenseId }),
    /** By license and position, after `after`. Returns one more than `limit` if there are more. */
    list: (licenseId: number | null, after: RulePosition | null, limit: number): Promise<LeaseRuleRecord[]> =>
      sql.select<LeaseRuleRecord>(
        `${SELECT} WHERE (r.license_id, r.position) > ($afterLicense, $afterPosition)
           ${licenseId === null ? '' : 'AND r.license_id = $licenseId'}
         ORDER BY r.license_id, r.position LIMIT $limit`,
        {
          afterLicense: after?.license ?? 0,
          afterPosition: after?.position ?? 0,
          limit: limit + 1,
          ...(licenseId === null ? {} : { licenseId }),
        },
      ),
    /** Makes room at its position. Needs the lock on the license, like every change of positions. @returns its ID */
    async insert(rule: Omit<LeaseRuleRow, 'id'>): Promise<number> {
      await shift(rule.licenseId, rule.position, LAST, 1);
      return insert(rule);
    },
    /** @param from the position that it has now */
    async update({ id, ...rule }: LeaseRuleRow, from: number): Promise<void> {
      if (rule.position > from) await shift(rule.licenseId, from + 1, rule.position, -1);
      if (rule.position < from) await shift(rule.licenseId, rule.position, from - 1, 1);
      await rules.update(rule, { where: { id } });
    },
    async remove({ id, licenseId, position }: LeaseRuleRow): Promise<void> {
      await rules.destroy({ where: { id } });
      await shift(licenseId, position + 1, LAST, -1);
    },
  };
}

export type LeaseRuleStore = ReturnType<typeof createLeaseRuleStore>;
