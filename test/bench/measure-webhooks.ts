// Webhooks: how fast events leave, what others notice of it, and what waiting for them costs.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DriverConnection, withPromises } from '../../scripts/seed/sqlite-connection.ts';
import { connect } from '#server/database/connect.ts';
import { type BackOffice, backOfficeOf } from '../helpers/back-office-of.ts';
import type { ChildServer } from './child-server.ts';
import { CertificateAuthority } from '../webhooks/certificate-authority.ts';
import { type Sample, sampleOf } from './sample.ts';
import { callSteadily, quantile } from './steady-calls.ts';
import type { Arrivals, Command, Message } from './webhook-receiver.ts';

const ENDPOINTS = 20;
const EVENTS = 500;
const CALLERS = 8;
const SINGLE_EVENTS = 50;
const WARM_UP_EVENTS = 10;
const ROUNDS = 5;
const WAITING = 100_000;
const WAIT_MS = 120_000;

export interface Receiver {
  /** Flags of a server that may reach it. */
  flags: string[];
  url(path: string): string;
  /** Verifies what comes to that path with it from now on. */
  trust(path: string, secret: string): void;
  /** Begins to count. @returns what gives the arrivals, once there are as many different deliveries */
  expect(deliveries: number): Promise<() => Promise<Arrivals>>;
  close(): void;
}

interface Setup {
  api: string;
  dataDir: string;
  database: string;
  /** Of licenses that can be renewed. */
  keys: readonly string[];
  /** For `/authorize/token/`. */
  bodies: readonly object[];
  receiver: Receiver;
  /** How often all events are delivered. */
  drains: number;
  server: Pick<ChildServer, 'cpuMs'>;
}

async function message<Name extends string>(child: ChildProcess, name: Name) {
  for (;;) {
    const signal = AbortSignal.timeout(WAIT_MS);
    const [said] = (await once(child, 'message', { signal })) as [Message];
    if (name in said) return said as Extract<Message, Record<Name, unknown>>;
  }
}

export async function startReceiver(): Promise<Receiver> {
  const folder = mkdtempSync(join(tmpdir(), 'license-desk-bench-'));
  const authority = new CertificateAuthority();
  const { cert, key } = authority.issue({});
  const files = { ca: authority.cert, cert, key };
  authority.remove();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const child = fork(join(import.meta.dirname, 'webhook-receiver.ts'), [
    join(folder, 'cert'),
    join(folder, 'key'),
  ]);
  const { port } = await message(child, 'port');
  return {
    flags: ['--webhook-allow', '127.0.0.0/8', '--webhook-ca', join(folder, 'ca')],
    url: (path) => `https://127.0.0.1:${port}${path}`,
    trust(path, secret) {
      const command: Command = { path, secret };
      child.send(command);
    },
    async expect(deliveries) {
      const command: Command = { expect: deliveries };
      const arriving = message(child, 'arrivals');
      const expecting = message(child, 'expecting');
      child.send(command);
      await expecting;
      return async () => (await arriving).arrivals;
    },
    close() {
      child.disconnect();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Admin = BackOffice['admin'];

async function renewAll(admin: Admin, keys: readonly string[], count: number): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < count) {
      const ref = keys[next % keys.length] ?? '';
      next += 1;
      await admin.renewLicense({ ref, days: 1 });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

/** One event after the other, with nothing else to do. */
async function firstAttempts(
  admin: Admin,
  { receiver, keys }: Setup,
  events = SINGLE_EVENTS,
): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; number < events; number += 1) {
    const arrivals = await receiver.expect(ENDPOINTS);
    await renewAll(admin, keys.slice(number % keys.length), 1);
    times.push(...(await arrivals()).firstAttemptMs);
  }
  return times;
}

/** Of rounds that follow each other. */
function quantiles(times: readonly number[], share: number): Sample {
  const length = Math.ceil(times.length / ROUNDS);
  return sampleOf(
    Array.from({ length: ROUNDS }, (_, round) =>
      quantile(times.slice(round * length, (round + 1) * length), share),
    ),
  );
}

/** Retries that wait for half an hour, the same number for each endpoint. */
async function plantWaiting(file: string): Promise<void> {
  const database = await connect({ url: null, file });
  const manager = database.connectionManager as unknown as {
    getConnection(options: { uuid: string }): Promise<DriverConnection>;
  };
  const connection = withPromises(await manager.getConnection({ uuid: 'bench' }));
  const [last] = await connection.all<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM events', []);
  const now = Date.now();
  await connection.exec('BEGIN IMMEDIATE');
  await connection.run(
    `INSERT INTO events (name, license_id, term, body, created_at)
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
     SELECT 'license.activated', NULL, NULL, '{"event":"license.activated"}', ?2 FROM n`,
    [WAITING / ENDPOINTS, now],
  );
  await connection.run(
    `INSERT INTO deliveries (event_id, webhook_id, status, attempts, next_attempt_at, last_error, created_at)
     SELECT e.id, w.id, 'retrying', 3, ?1 + (e.id % 1000), 'HTTP 500', ?2
     FROM events e JOIN webhooks w ON w.deleted_at IS NULL WHERE e.id > ?3`,
    [now + 30 * 60_000, now, last?.id ?? 0],
  );
  await connection.exec('COMMIT');
  await database.close();
}

export async function measureWebhooks(setup: Setup) {
  const { dataDir, database, receiver } = setup;
  const { admin } = backOfficeOf(dataDir);
  for (let number = 1; number <= ENDPOINTS; number += 1) {
    const path = `/partner-${number}`;
    const { secret } = await admin.registerWebhook({ url: receiver.url(path), scope: 'license.renewed' });
    receiver.trust(path, secret);
  }
  // Connections are made, and the code is warm.
  await firstAttempts(admin, setup, WARM_UP_EVENTS);
  const alone = await firstAttempts(admin, setup);

  const drains: Drain[] = [];
  for (let turn = 0; turn < setup.drains; turn += 1) drains.push(await drain(admin, setup));
  await plantWaiting(database);
  const besideWaiting = await firstAttempts(admin, setup);
  return {
    deliveriesPerSecond: sampleOf(drains.map(({ perSecond }) => perSecond)),
    cpuMicros: sampleOf(drains.map(({ cpuMicros }) => cpuMicros)),
    authorizeP95Ms: sampleOf(drains.map(({ authorizeP95Ms }) => authorizeP95Ms)),
    firstAttemptP50Ms: quantiles(alone, 0.5),
    firstAttemptP95Ms: quantiles(alone, 0.95),
    besideWaitingP50Ms: quantiles(besideWaiting, 0.5),
    besideWaitingP95Ms: quantiles(besideWaiting, 0.95),
    drains,
  };
}

interface Drain {
  perSecond: number;
  /** Processor time of the server per delivery, with the 500 authorizations a second meanwhile. */
  cpuMicros: number;
  authorizeP95Ms: number;
  connections: number;
}

/** Delivers 500 events to every endpoint, beside authorizations at a fixed rate. */
async function drain(admin: Admin, { api, bodies, keys, receiver, server }: Setup): Promise<Drain> {
  let isOver = false;
  const calling = callSteadily(`${api}authorize/token/`, bodies, () => isOver);
  await sleep(1000);
  const cpuBefore = server.cpuMs();
  const arrivals = await receiver.expect(EVENTS * ENDPOINTS);
  await renewAll(admin, keys, EVENTS);
  const { unverified, deliveries, firstAt, lastAt, connections } = await arrivals();
  const cpuMs = server.cpuMs() - cpuBefore;
  isOver = true;
  if (unverified > 0) throw new Error(`${unverified} signatures do not verify`);
  return {
    perSecond: deliveries / ((lastAt - firstAt) / 1000),
    cpuMicros: (cpuMs * 1000) / deliveries,
    authorizeP95Ms: quantile(await calling, 0.95),
    connections,
  };
}
