import { QueryTypes, type Sequelize } from 'sequelize';
import { defineEvent, type EventRow } from './event-model.ts';

export function createEventStore(sequelize: Sequelize) {
  const events = defineEvent(sequelize);
  return {
    async insert(event: Omit<EventRow, 'id'>): Promise<number> {
      const created = await events.create(event);
      return created.get('id') as number;
    },
    /** One delivery for each registration whose scope covers the event. */
    async insertDeliveries(eventId: number, name: string, now: number): Promise<void> {
      await sequelize.query(
        `INSERT INTO deliveries (event_id, webhook_id, status, next_attempt_at, created_at)
         SELECT $eventId, id, 'pending', $now, $now FROM webhooks
         WHERE deleted_at IS NULL AND scope IN ('all', $name)`,
        { bind: { eventId, name, now }, type: QueryTypes.INSERT },
      );
    },
    /** Whether this term's notice has been given. */
    async hasNotice(licenseId: number, name: string, term: number): Promise<boolean> {
      const rows = await sequelize.query(
        'SELECT 1 FROM events WHERE license_id = $licenseId AND name = $name AND term = $term LIMIT 1',
        { bind: { licenseId, name, term }, type: QueryTypes.SELECT },
      );
      return rows.length > 0;
    },
  };
}

export type EventStore = ReturnType<typeof createEventStore>;
