// The outbox as it is in the database: events with their bodies, and the deliveries of each.
import { selectRows, writeRows } from './database.ts';

export interface StoredEvent {
  id: number;
  name: string;
  term: number | null;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies freely
  body: any;
}

/** In the order in which they were written. */
export async function eventsOf(dataDir: string, licenseId?: number): Promise<StoredEvent[]> {
  const condition = licenseId === undefined ? '' : `WHERE license_id = ${licenseId}`;
  const rows = await selectRows(dataDir, `SELECT id, name, term, body FROM events ${condition} ORDER BY id`);
  return (rows as (Omit<StoredEvent, 'body'> & { body: string })[]).map((row) => ({
    ...row,
    body: JSON.parse(row.body) as unknown,
  }));
}

export async function eventNames(dataDir: string, licenseId?: number): Promise<string[]> {
  return (await eventsOf(dataDir, licenseId)).map(({ name }) => name);
}

/** Registers a webhook by SQL, and gives back its id; its secret opens nothing. */
export async function plantWebhook(
  dataDir: string,
  scope: string,
  deletedAt: number | null = null,
): Promise<number> {
  await writeRows(
    dataDir,
    `INSERT INTO webhooks (url, scope, secret_sealed, created_at, deleted_at)
     VALUES ('https://receiver.example/hook', '${scope}', 'none', 0, ${deletedAt})`,
  );
  const [row] = await selectRows(dataDir, 'SELECT max(id) AS id FROM webhooks');
  return (row as { id: number }).id;
}

export interface StoredDelivery {
  webhook: number;
  event: string;
  status: string;
  attempts: number;
  due: number | null;
}

export async function deliveriesOf(dataDir: string): Promise<StoredDelivery[]> {
  return (await selectRows(
    dataDir,
    `SELECT d.webhook_id AS webhook, e.name AS event, d.status AS status, d.attempts AS attempts,
       d.next_attempt_at AS due
     FROM deliveries d JOIN events e ON e.id = d.event_id ORDER BY d.id`,
  )) as StoredDelivery[];
}
