// A license's history, combined from the audit log and the events.
import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';

export interface TimelineRow {
  at: number;
  kind: 'change' | 'event';
  id: number;
  name: string;
  actorKind: string | null;
  actorName: string | null;
  requestId: string | null;
  /** JSON; for a change with a previous state. */
  before: string | null;
  after: string | null;
  /** JSON; for an event. */
  body: string | null;
}

/** Keyset paging: the last entry of the previous page. */
export type TimelinePosition = Pick<TimelineRow, 'at' | 'kind' | 'id'>;

/** The audit log names devices by their license, but tokens and certificates by themselves. */
const TIMELINE = `
  SELECT a.created_at AS "at", 'change' AS "kind", a.id AS "id", a.action AS "name", a.actor_kind AS "actorKind",
    a.actor_name AS "actorName", a.request_id AS "requestId", a.before_state AS "before", a.after_state AS "after",
    NULL AS "body"
  FROM audit_entries a WHERE a.subject IN (
    SELECT CAST($subject AS TEXT)
    UNION ALL SELECT 'token:' || t.id FROM authorization_tokens t WHERE t.license_id = $licenseId
    UNION ALL SELECT 'certificate:' || c.id FROM certificates c WHERE c.license_id = $licenseId)
  UNION ALL
  SELECT e.created_at, 'event', e.id, e.name, NULL, NULL, NULL, NULL, NULL, e.body
  FROM events e WHERE e.license_id = $licenseId`;

/** A change is recorded after its event, usually in the same millisecond. */
const NEWEST_FIRST = 'ORDER BY "at" DESC, "kind", "id" DESC';
const BEYOND = `WHERE "at" < $at OR ("at" = $at AND ("kind" > $kind OR ("kind" = $kind AND "id" < $id)))`;

export function createLicenseTimelineStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  return {
    /** Returns one more than `limit` if there are more. */
    list(licenseId: number, after: TimelinePosition | null, limit: number): Promise<TimelineRow[]> {
      return sql.select(
        `SELECT * FROM (${TIMELINE}) timeline ${after === null ? '' : BEYOND} ${NEWEST_FIRST} LIMIT $limit`,
        { ...after, licenseId, subject: `license:${licenseId}`, limit: limit + 1 },
      );
    },
  };
}

export type LicenseTimelineStore = ReturnType<typeof createLicenseTimelineStore>;
