import { QueryTypes, type Sequelize } from 'sequelize';
import { insertInto } from '#server/database/insert-row.ts';
import { preparedQuery } from '#server/database/prepared-query.ts';
import { defineEvent } from './event-model.ts';

/**
 * On PostgreSQL a registration that is being deleted is waited for, and then left out: otherwise its deletion would not
 * see this delivery, nor this statement the deletion.
 */
const insertDeliveriesSql = (sequelize: Sequelize) => `
  INSERT INTO deliveries (event_id, webhook_id, status, next_attempt_at, created_at)
  SELECT $1, id, 'pending', $2, $2 FROM webhooks WHERE deleted_at IS NULL AND scope IN ('all', $3)
  ${sequelize.getDialect() === 'postgres' ? 'FOR KEY SHARE' : ''}
  RETURNING id`;

export function createEventStore(sequelize: Sequelize) {
  const query = preparedQuery(sequelize);
  const insertDeliveries = insertDeliveriesSql(sequelize);
  return {
    insert: insertInto(query, defineEvent(sequelize)),
    /** One delivery for each registration whose scope covers the event. @returns how many */
    async insertDeliveries(eventId: number, name: string, now: number): Promise<number> {
      return (await query(insertDeliveries, [eventId, now, name])).length;
    },
    /** Whether this term's notice has been sent, even if retention has removed its event since. */
    async hasNotice(licenseId: number, name: string, term: number): Promise<boolean> {
      const rows = await sequelize.query(
        `SELECT 1 FROM events WHERE license_id = $licenseId AND name = $name AND term = $term
         UNION ALL
         SELECT 1 FROM license_notices WHERE license_id = $licenseId AND name = $name AND term = $term LIMIT 1`,
        { bind: { licenseId, name, term }, type: QueryTypes.SELECT },
      );
      return rows.length > 0;
    },
  };
}

export type EventStore = ReturnType<typeof createEventStore>;
