// Floating licenses: checkouts, heartbeats of one and of many leases, the end of many leases, denials.
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from './keep-alive-client.ts';
import {
  checkOut,
  compareCheckouts,
  compareHeartbeats,
  type LeaseCallSetup,
  newFloatingLicense,
} from './lease-calls.ts';
import { type LeaseDatabase, openLeaseDatabase } from './lease-data.ts';
import { underLoad as underWrk } from './load.ts';
import { measureAlone, ROUNDS, roundSeconds } from './rounds.ts';
import { sampleOf } from './sample.ts';
import { callSteadily, quantile } from './steady-calls.ts';

const DUE = 5000;
/** As the upkeep ends leases. */
const DUE_PER_TRANSACTION = 200;
const SWEEPS = 5;
const LOOK_EVERY_MS = 20;

interface Setup extends LeaseCallSetup {
  /** How many. */
  denials: number;
}

export async function measureLeases(setup: Setup) {
  const { server, dataDir, database: file, seconds } = setup;
  const { api } = server;
  const database = await openLeaseDatabase(file);
  const client = createClient(1);

  const underLoad = async (bodies: readonly object[], work: () => Promise<void>) => {
    let isOver = false;
    const [latencies] = await Promise.all([
      callSteadily(`${api}leases/heartbeat/`, bodies, () => isOver),
      work().finally(() => {
        isOver = true;
      }),
    ]);
    return quantile(latencies, 0.99);
  };

  try {
    const checkouts = await compareCheckouts(setup);
    const { compared: single, tokens, inBatches } = await compareHeartbeats(setup);
    const url = `${api}leases/heartbeat/`;
    const batched = await measureAlone(underWrk({ server, url, bodies: inBatches }, seconds * 2));

    const bodies = tokens.map((token) => ({ lease_token: token }));
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      rounds.push(await underLoad(bodies, () => sleep(roundSeconds(seconds * 2) * 1000)));

    const ending = await newFloatingLicense(dataDir, null);
    const sweeps: { ms: number; p99Ms: number }[] = [];
    for (let sweep = 0; sweep < SWEEPS; sweep += 1) sweeps.push(await measureSweep(ending.license_id));

    const full = await newFloatingLicense(dataDir, 1);
    await client.post(`${api}leases/checkout/`, checkOut(full));
    const denials: number[] = [];
    for (let turn = 0; turn < setup.denials; turn += 1) denials.push(await untilOnDisk(full));

    return {
      checkouts: checkouts.ours,
      besideEtcd: checkouts.comparison,
      single,
      batched,
      heartbeatP99Ms: sampleOf(rounds),
      sweepMs: sampleOf(sweeps.map(({ ms }) => ms)),
      sweepP99Ms: sampleOf(sweeps.map(({ p99Ms }) => p99Ms)),
      denials,
    };

    /** Ends leases that are due together, while other clients send heartbeats. */
    async function measureSweep(licenseId: number): Promise<{ ms: number; p99Ms: number }> {
      await database.addLeases(licenseId, DUE);
      const liveLeases = `license_id = ${licenseId} AND ended_at IS NULL`;
      const started = Date.now();
      const p99Ms = await underLoad(bodies, async () => {
        await database.run(
          `UPDATE leases SET due_at = (SELECT lease_at FROM lease_clock) - 60000 WHERE ${liveLeases}`,
        );
        await until(database, `SELECT 1 FROM leases WHERE ${liveLeases} LIMIT 1`, (count) => count === 0);
      });
      const [ended] = await database.rows<{ first: number; last: number }>(
        `SELECT min(ended_at) AS first, max(ended_at) AS last FROM leases
         WHERE license_id = ${licenseId} AND ended_at >= ${started}`,
      );
      // A batch takes as long as the time between the ends of two.
      const batches = DUE / DUE_PER_TRANSACTION;
      const ms = ended ? ((ended.last - ended.first) * batches) / (batches - 1) : Number.NaN;
      return { ms, p99Ms };
    }

    async function untilOnDisk(license: { license_id: number; license_key: string }): Promise<number> {
      const sql = `SELECT id FROM lease_denials WHERE license_id = ${license.license_id}`;
      const before = (await database.rows(sql)).length;
      const reply = await client.post(`${api}leases/checkout/`, checkOut(license));
      if (reply.status !== 409) throw new Error(`a full license answered ${reply.status}: ${reply.body}`);
      await until(database, sql, (count) => count > before);
      return performance.now() - reply.endedAt;
    }
  } finally {
    client.close();
    await database.close();
  }
}

async function until(
  database: LeaseDatabase,
  sql: string,
  isEnough: (count: number) => boolean,
): Promise<void> {
  while (!isEnough((await database.rows(sql)).length)) await sleep(LOOK_EVERY_MS);
}

export type LeaseMeasurements = Awaited<ReturnType<typeof measureLeases>>;
