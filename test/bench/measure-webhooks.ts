// Webhooks: how fast events leave, what others notice of it, and what waiting for them costs.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DriverConnection, withPromises } from '../../scripts/seed/sqlite-connection.ts';
import { ADMIN_API_ROOT, adminContract } from '#server/contract.ts';
import { connect } from '#server/database/connect.ts';
import { type Client, createClient as createAdminClient, httpTransport } from '#server/wire/client.ts';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import { CertificateAuthority } from '../webhooks/certificate-authority.ts';
import { callSteadily, quantile } from './steady-calls.ts';
import type { Arrivals, Command, Message } from './webhook-receiver.ts';

const ENDPOINTS = 20;
const EVENTS = 500;
const CALLERS = 8;
const SINGLE_EVENTS = 50;
const IDLE_SECONDS = 20;
const WAITING = 100_000;
const WAIT_MS = 120_000;
/** Of /proc: clock ticks a second. */
const TICKS = 100;

export interface Receiver {
  /** Flags of a server that may reach it. */
  flags: string[];
  url(path: string): string;
  /** Verifies what comes to that path with it from now on. */
  trust(path: string, secret: string): void;
  /** What came in, from the call until there are as many different deliveries. */
  expect(deliveries: number): Promise<Arrivals>;
  close(): void;
}

interface Surroundings {
  api: string;
  dataDir: string;
  database: string;
  /** Of licenses that can be renewed. */
  keys: readonly string[];
  /** For `/authorize/token/`. */
  bodies: readonly object[];
  receiver: Receiver;
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
      child.send(command);
      return (await message(child, 'arrivals')).arrivals;
    },
    close() {
      child.disconnect();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Admin = Client<typeof adminContract>;

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
async function firstAttempts(admin: Admin, { receiver, keys }: Surroundings): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; number < SINGLE_EVENTS; number += 1) {
    const arriving = receiver.expect(ENDPOINTS);
    await renewAll(admin, keys.slice(number % keys.length), 1);
    times.push(...(await arriving).firstAttemptMs);
  }
  return times;
}

/** Processor time of a process so far, in milliseconds. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /su, '')
    .split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

async function idleCpuPercent(pid: number): Promise<number> {
  // What the work before left to do is none of it.
  await sleep(3000);
  const before = cpuMs(pid);
  await sleep(IDLE_SECONDS * 1000);
  return ((cpuMs(pid) - before) / (IDLE_SECONDS * 1000)) * 100;
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

export async function measureWebhooks(around: Surroundings) {
  const { api, dataDir, database, keys, bodies, receiver } = around;
  const runtime = readRuntimeFile(dataDir);
  if (!runtime) throw new Error('the server left no runtime file');
  const authorization = `Bearer ${runtime.secret}`;
  const admin = createAdminClient(
    adminContract,
    httpTransport(runtime.admin + ADMIN_API_ROOT, { authorization, 'x-license-desk-user': 'bench' }),
  );
  for (let number = 1; number <= ENDPOINTS; number += 1) {
    const path = `/partner-${number}`;
    const { secret } = await admin.registerWebhook({ url: receiver.url(path), scope: 'license.renewed' });
    receiver.trust(path, secret);
  }
  // Connections are made, and the code is warm.
  await firstAttempts(admin, around);
  const alone = await firstAttempts(admin, around);

  let isOver = false;
  const calling = callSteadily(`${api}authorize/token/`, bodies, () => isOver);
  await sleep(1000);
  const draining = receiver.expect(EVENTS * ENDPOINTS);
  await renewAll(admin, keys, EVENTS);
  const drained = await draining;
  isOver = true;
  const latencies = await calling;

  const idlePercent = await idleCpuPercent(runtime.pid);
  await plantWaiting(database);
  const besideWaiting = await firstAttempts(admin, around);
  const { firstAttemptMs: _all, ...arrivals } = drained;
  if (arrivals.unverified > 0) throw new Error(`${arrivals.unverified} signatures do not verify`);
  return {
    deliveriesPerSecond: drained.deliveries / ((drained.lastAt - drained.firstAt) / 1000),
    authorizeP95Ms: quantile(latencies, 0.95),
    authorizations: latencies.length,
    firstAttemptP50Ms: quantile(alone, 0.5),
    firstAttemptP95Ms: quantile(alone, 0.95),
    idlePercent,
    besideWaitingP50Ms: quantile(besideWaiting, 0.5),
    besideWaitingP95Ms: quantile(besideWaiting, 0.95),
    arrivals,
  };
}
