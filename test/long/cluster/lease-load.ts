// More clients than seats of a floating license: they wait for a seat, keep it by heartbeats, crash, and give it back.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LeaseObject } from '#server/features/leases/lease-contract.ts';
import { selectRows } from '../../helpers/database.ts';
import { createRandom, type Random } from '../random.ts';
import type { Ledger } from '../write-ledger.ts';
import { succeed } from './calls.ts';
import type { Denials } from './denials.ts';
import { type Holding, mostHeld } from './holdings.ts';
import type { Site } from './site.ts';

const CLIENTS = 10;
const SEATS = 6;
const LEASE_SECONDS = 60;
const HEARTBEAT_MS = 1500;
const HEARTBEATS = 8;
const PAUSE_MS = 300;
/** How often a client loses its token and asks for its lease again. */
const CRASHES = 0.2;

export interface LeaseLoad {
  counts: { checkedOut: number; refused: number; heartbeats: number; recovered: number };
  /** Resolves when all clients have ended. */
  done: Promise<unknown>;
  /** What was wrong. */
  faults(): Promise<string[]>;
}

interface Granted {
  lease: LeaseObject;
  lease_token: string;
}

const SEATS_SQL = (licenseId: number) => `
  SELECT p.in_use AS counted, (
    SELECT count(*) FROM leases l WHERE l.license_id = p.license_id AND l.ended_at IS NULL AND l.state <> 'queued'
  ) AS held FROM lease_pools p WHERE p.license_id = ${licenseId}`;

export async function startLeaseLoad(
  site: Site,
  denials: Denials,
  ledger: Ledger,
  seed: number,
): Promise<LeaseLoad> {
  const { calls } = site;
  const holder = 'Floating seats';
  const { admin } = site.cluster.servers[0]!.process();
  await admin.createPlan({
    name: 'floating',
    licensing: 'floating',
    seats: SEATS,
    lease_seconds: LEASE_SECONDS,
    duration_days: 365,
  });
  const { license } = await admin.createLicense({ holder, plan: 'floating' });
  ledger.others.add(holder);
  const { license_key, license_id } = license;
  const holdings: Holding[] = [];
  const counts = { checkedOut: 0, refused: 0, heartbeats: 0, recovered: 0 };

  async function checkOut(instance_id: string): Promise<Granted | null> {
    const reply = await calls.post('/leases/checkout/', { license_key, instance_id });
    if (reply.status === 409 && reply.body.error_code === 'no_seat_available') return null;
    return (await succeed(Promise.resolve(reply))).body as Granted;
  }

  async function use(granted: Granted, instance_id: string, random: Random): Promise<void> {
    let { lease, lease_token } = granted;
    const from = performance.now();
    let extendedAt = from;
    for (let left = random.integer(HEARTBEATS); left > 0 && !site.isOver(); left -= 1) {
      await sleep(random.integer(HEARTBEAT_MS));
      if (random.chance(CRASHES)) {
        const again = await checkOut(instance_id);
        if (again?.lease.lease_id !== lease.lease_id) {
          const got = again ? `lease ${again.lease.lease_id}` : 'no seat';
          throw new Error(`lost: a client asked again for lease ${lease.lease_id} and got ${got}`);
        }
        ({ lease, lease_token } = again);
        counts.recovered += 1;
        continue;
      }
      const reply = await calls.post('/leases/heartbeat/', { lease_token });
      // Each extension lasts for the whole length of a lease.
      const mayHaveEnded = reply.beganAt - extendedAt > LEASE_SECONDS * 1000;
      if (reply.status === 410 && mayHaveEnded) return;
      await succeed(Promise.resolve(reply));
      extendedAt = reply.beganAt;
      counts.heartbeats += 1;
    }
    holdings.push({ from, to: performance.now(), units: 1 });
    await succeed(calls.post('/leases/release/', { lease_token }));
    denials.expect('the release of a lease', '/leases/heartbeat/', { lease_token });
  }

  async function takeTurns(number: number): Promise<void> {
    const random = createRandom(seed, 2000 + number);
    while (!site.isOver()) {
      const instance_id = randomUUID();
      const granted = await checkOut(instance_id);
      counts[granted ? 'checkedOut' : 'refused'] += 1;
      if (granted) await use(granted, instance_id, random);
      await sleep(random.integer(PAUSE_MS));
    }
  }

  const done = Promise.all(
    Array.from({ length: CLIENTS }, (_, number) =>
      takeTurns(number).catch((error: unknown) => {
        site.failures.push(`lease client ${number}: ${String(error)}`);
      }),
    ),
  );
  return {
    counts,
    done,
    async faults() {
      const most = mostHeld(holdings);
      const faults = most > SEATS ? [`oversold: ${most} leases were held on ${SEATS} seats`] : [];
      const [seats] = (await selectRows(site.cluster.databaseUrl, SEATS_SQL(license_id))) as {
        counted: number;
        held: number;
      }[];
      if (seats?.counted !== seats?.held)
        faults.push(`the pool counts ${seats?.counted} seats, and ${seats?.held} leases hold one`);
      return faults;
    },
  };
}
