// Compares the database and the deliveries with what the load was told.
import { selectRows } from '../../helpers/database.ts';
import { type Ledger, ledgerFaults, NO_MARKS } from '../write-ledger.ts';
import type { Site } from './site.ts';
import type { Timeline } from './timeline.ts';
import { until } from './until.ts';

/** An attempt whose outcome was lost came at most this long before the fault ended, or after it began. */
const NEAR_FAULT_MS = 5000;

async function openDeliveries(database: string): Promise<number> {
  const [open] = (await selectRows(
    database,
    `SELECT count(*) AS count FROM deliveries WHERE status <> 'delivered'`,
  )) as [{ count: number }];
  return open.count;
}

interface Attempts {
  id: number;
  recorded: number;
  /** Those with a success. */
  delivered: number;
}

/** By delivery. */
async function attemptsOf(database: string): Promise<Map<number, Attempts>> {
  const rows = (await selectRows(
    database,
    `SELECT delivery_id AS id, count(*) AS recorded, count(CASE WHEN delivered = 1 THEN 1 END) AS delivered
     FROM delivery_attempts GROUP BY delivery_id`,
  )) as Attempts[];
  return new Map(rows.map((row) => [row.id, row]));
}

export interface DeliveryCheck {
  faults: string[];
  events: number;
  /** Deliveries that came more than once. */
  repeated: number;
}

/** Every event has one delivery, which has come, the same each time, and twice only around a fault. */
export async function checkDeliveries(
  { cluster, receiver }: Site,
  timeline: Timeline,
): Promise<DeliveryCheck> {
  const faults: string[] = [];
  await until(
    'all events are delivered',
    async () => (await openDeliveries(cluster.databaseUrl)) === 0,
  ).catch((error: unknown) => faults.push(`lost: ${String(error)}`));
  // Later events may be on their way.
  const received = new Map(receiver.received);
  const events = (await selectRows(
    cluster.databaseUrl,
    `SELECT e.id AS id, min(d.id) AS delivery, min(d.status) AS status, count(d.id) AS count
     FROM events e LEFT JOIN deliveries d ON d.event_id = e.id GROUP BY e.id ORDER BY e.id`,
  )) as { id: number; delivery: number | null; status: string | null; count: number }[];
  for (const { id, count } of events) if (count !== 1) faults.push(`event ${id} has ${count} deliveries`);
  const lost = events.filter(
    ({ delivery, status }) => delivery !== null && status === 'delivered' && !receiver.received.has(delivery),
  );
  if (lost.length > 0)
    faults.push(`lost: ${lost.length} deliveries never came, the first of event ${lost[0]?.id}`);
  const attempts = await attemptsOf(cluster.databaseUrl);
  const known = new Set(events.map(({ delivery }) => delivery));
  let repeated = 0;
  for (const [id, { times, digests }] of received) {
    if (!known.has(id)) faults.push(`delivery ${id} came, and is not stored`);
    if (digests.size > 1) faults.push(`delivery ${id} came with ${digests.size} different contents`);
    const { recorded = 0, delivered = 0 } = attempts.get(id) ?? {};
    if (delivered > times.length)
      faults.push(
        `doubled: ${delivered} successes of delivery ${id} are recorded, and it came ${times.length} times`,
      );
    if (times.length === 1) continue;
    repeated += 1;
    // Answers that were too late, which are recorded as failures.
    if (recorded >= times.length) continue;
    // Each time but the last, the outcome was not recorded.
    for (const at of times.slice(0, -1)) {
      const causes = timeline.during(at - NEAR_FAULT_MS, at + NEAR_FAULT_MS);
      if (!causes.some(({ mayRepeatDeliveries }) => mayRepeatDeliveries)) {
        const names = causes.map(({ name }) => name).join(', ') || 'no fault';
        faults.push(`doubled: delivery ${id} came ${times.length} times around ${names}`);
      }
    }
  }
  if (receiver.unverified() > 0) faults.push(`${receiver.unverified()} deliveries had a wrong signature`);
  return { faults, events: events.length, repeated };
}

/** Rows that may exist once only, whatever was repeated. */
export async function checkRows({ cluster }: Site, ledger: Ledger): Promise<string[]> {
  const twice = await selectRows(
    cluster.databaseUrl,
    `SELECT license_id, machine_fingerprint FROM activations WHERE released_at IS NULL
     GROUP BY license_id, machine_fingerprint HAVING count(*) > 1`,
  );
  return [
    ...twice.map((row) => `doubled: an active device: ${JSON.stringify(row)}`),
    ...(await ledgerFaults(cluster.databaseUrl, ledger, NO_MARKS)),
  ];
}
