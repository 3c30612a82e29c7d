// The calls of floating licenses that have a peer: checkouts beside etcd, heartbeats beside bare Express.
import { randomBytes } from 'node:crypto';
import { backOfficeOf } from '../helpers/back-office-of.ts';
import type { ChildServer } from './child-server.ts';
import { postAllAlong } from './keep-alive-client.ts';
import { openLeaseDatabase, writeHeartbeats } from './lease-data.ts';
import { compareWithBare, fillMemory } from './load.ts';
import { startEtcd } from './measure-etcd.ts';
import { callers, CONNECTIONS } from './measure-writes.ts';
import { besidePeer, type Comparison, ROUNDS } from './rounds.ts';

const LIVE = 50_000;
export const BATCH = 100;

export interface LeaseCallSetup {
  server: ChildServer;
  bare: ChildServer;
  dataDir: string;
  database: string;
  /** Of each measurement. */
  seconds: number;
  /** Fewer, where other processes of the same server are measured, too. */
  rounds?: number;
}

/** @param seats null for any number of them */
export async function newFloatingLicense(dataDir: string, seats: number | null) {
  const { admin } = backOfficeOf(dataDir);
  const name = `bench-${randomBytes(4).toString('hex')}`;
  await admin.createPlan({ name, licensing: 'floating', seats, lease_seconds: 3600 });
  return (await admin.createLicense({ holder: 'Bench', plan: name })).license;
}

export const checkOut = ({ license_key }: { license_key: string }) => ({
  license_key,
  instance_id: randomBytes(16).toString('hex'),
  user: 'ada',
  host: 'workstation-7',
});

/** Of one license, which all callers contend for. The comparison is null where etcd cannot be installed. */
export async function compareCheckouts({ server, dataDir, seconds, rounds = ROUNDS }: LeaseCallSetup) {
  const license = await newFloatingLicense(dataDir, 1_000_000);
  const etcd = await startEtcd(dataDir, seconds * 2);
  const url = `${server.api}leases/checkout/`;
  const checkouts = callers({ server, seconds: seconds * 2 }, (isOver) =>
    postAllAlong(CONNECTIONS, url, () => checkOut(license), isOver),
  );
  const compared = await besidePeer(checkouts, etcd, { inTurn: true, rounds });
  await etcd?.stop();
  return compared;
}

/** @returns the live leases' tokens and a file with batched heartbeats of them as well */
export async function compareHeartbeats(setup: LeaseCallSetup) {
  const { server, bare, dataDir, seconds, rounds } = setup;
  const license = await newFloatingLicense(dataDir, null);
  const database = await openLeaseDatabase(setup.database);
  const tokens = await database.addLeases(license.license_id, LIVE).finally(() => database.close());
  const bodies = await writeHeartbeats(dataDir, tokens, BATCH);
  const url = `${server.api}leases/heartbeat/`;
  await fillMemory({ server, url, bodies: bodies.batched }, 1);
  const compared = await compareWithBare(
    { server: bare, url: bare.api },
    { server, url, bodies: bodies.single },
    seconds * 2,
    rounds,
  );
  return { compared, tokens, inBatches: bodies.batched };
}

/** Both, for each process of the server. */
export async function compareLeaseCalls(
  setup: LeaseCallSetup,
): Promise<Record<'checkouts' | 'heartbeats', Comparison | null>> {
  const { comparison } = await compareCheckouts(setup);
  return { checkouts: comparison, heartbeats: (await compareHeartbeats(setup)).compared };
}
