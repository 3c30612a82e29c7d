import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';
import { defineEvent, type EventRow } from './event-model.ts';

/** Position of an event when ordered by age. */
export interface EventPosition {
  /** Epoch milliseconds. */
  createdAt: number;
  id: number;
}

/** What says that a license's term has had a notice. */
export interface NoticeMark {
  licenseId: number;
  name: string;
  term: number;
}

/** @param isOne condition on `license_id` */
const sentNotices = (isOne: string) => `
  SELECT license_id AS "licenseId", name AS "name", term AS "term" FROM events WHERE ${isOne} AND term IS NOT NULL
  UNION ALL
  SELECT license_id AS "licenseId", name AS "name", term AS "term" FROM license_notices WHERE ${isOne}`;

/** Pending, delivering and retrying deliveries have a next attempt and still need their events. */
const FIND_OLD = `
  SELECT e.created_at AS "createdAt", e.id AS "id" FROM events e
  WHERE e.created_at >= $createdAt AND (e.created_at > $createdAt OR e.id >= $id) AND e.created_at < $before
    AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = e.id AND d.next_attempt_at IS NOT NULL)
  ORDER BY e.created_at, e.id LIMIT $limit`;

/** Each notice is sent once per license and term, even if the term outlasts retention. */
const keepNotices = (isRemoved: string) => `
  INSERT INTO license_notices (license_id, name, term)
  SELECT e.license_id, e.name, e.term FROM events e JOIN licenses l ON l.id = e.license_id
  WHERE ${isRemoved} AND e.term >= l.term
  ON CONFLICT DO NOTHING`;

const dropFormerNotices = (isRemoved: string) => `
  DELETE FROM license_notices WHERE license_id IN (
    SELECT e.license_id FROM events e WHERE ${isRemoved} AND e.term IS NOT NULL)
  AND term < (SELECT l.term FROM licenses l WHERE l.id = license_notices.license_id)`;

export function createEventStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  const { isIn } = sql.dialect;
  const model = defineEvent(sequelize);
  const insertAll = sql.insertAll(model, ['id']);
  const noticesOf = sql.statement<NoticeMark>(sentNotices(isIn('license_id', 'licenseIds')));
  return {
    /** @returns their IDs */
    insertAll: async (events: readonly Omit<EventRow, 'id'>[]): Promise<number[]> =>
      (await insertAll(events)).map(({ id }) => id),
    /** @param onInserted receives the IDs of new events, in the transaction that writes them */
    insertWith: (onInserted: (ids: number[]) => Promise<void>) => sql.insertLater(model, onInserted),
    /** The notices of these licenses that have been sent, even if retention has since removed their events. */
    sentNotices: (licenseIds: readonly number[]): Promise<NoticeMark[]> => noticesOf.all({ licenseIds }),
    /** Removable events before a given time, oldest first. @param from where to continue */
    findOld: (before: number, from: EventPosition, limit: number): Promise<EventPosition[]> =>
      sql.select(FIND_OLD, { ...from, before, limit }),
    /** Removes events without remaining deliveries. @returns their number */
    async removeDelivered(eventIds: readonly number[]): Promise<number> {
      const rows = await sql.select<{ id: number }>(
        `SELECT e.id AS "id" FROM events e WHERE ${isIn('e.id', 'eventIds')}
           AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = e.id)`,
        { eventIds },
      );
      if (rows.length === 0) return 0;
      const ids = rows.map(({ id }) => id);
      await sql.run(keepNotices(isIn('e.id', 'ids')), { ids });
      await sql.run(dropFormerNotices(isIn('e.id', 'ids')), { ids });
      return sql.run(`DELETE FROM events WHERE ${isIn('id', 'ids')}`, { ids });
    },
  };
}

export type EventStore = ReturnType<typeof createEventStore>;
