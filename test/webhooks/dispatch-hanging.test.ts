// More partners that hang than there are places to send from: those that answer do not notice.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { atOnce } from '../helpers/at-once.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { lookUntil, registerPath, webhookFlags } from './partner.ts';
import { type PythonReceiver, type Received, startPythonReceiver } from './python-receiver.ts';

const HANGING = Array.from({ length: 25 }, (_, number) => `/hanging-${number + 1}`);
const PROMPT = Array.from({ length: 5 }, (_, number) => `/prompt-${number + 1}`);
const EVENTS = 30;
/** How long a hanging partner holds a place. */
const TIMEOUT_MS = 4000;
/** A little less than that, for what arrives late on a busy machine: whatever arrives within it is held together. */
const HELD_MS = 3000;
const P95_MS = 2000;

async function causeEvents({ admin }: ServerProcess, count: number): Promise<void> {
  const { license } = await admin.createLicense({ holder: 'Geduld & Söhne' });
  await atOnce(count, () => admin.renewLicense({ ref: license.license_key, days: 1 }));
}

function latencies(requests: readonly Received[]): number[] {
  return requests
    .map(({ at, body }) => at - Date.parse((JSON.parse(body) as { timestamp: string }).timestamp))
    .toSorted((a, b) => a - b);
}

/** Of the five together, for the events after the first `known` ones. */
async function p95Of(receiver: PythonReceiver, known: number, events: number): Promise<number> {
  const received = await Promise.all(PROMPT.map((path) => receiver.received(path, known + events)));
  const sorted = latencies(received.flatMap((requests) => requests.slice(known)));
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? NaN;
}

/** The most that ever arrived within the time for which each of them is held. */
function mostAtOnce(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  const counts = sorted.map((start) => sorted.filter((at) => at >= start && at < start + HELD_MS).length);
  return Math.max(0, ...counts);
}

function residentMb({ pid }: ServerProcess): number {
  return Number(/^VmRSS:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

it('25 that hang leave five that answer at a p95 below 2 s', { timeout: 90_000 }, async () => {
  const receiver = await startPythonReceiver();
  const flags = { ...webhookFlags(receiver, 0.5), 'webhook-timeout-seconds': String(TIMEOUT_MS / 1000) };
  const server = await startServerProcess({ dataDir: temporaryDirectory(), flags });
  for (const path of PROMPT) await registerPath(server, receiver, path);
  // They have answered before; of the others nothing is known.
  await causeEvents(server, EVENTS);
  await p95Of(receiver, 0, EVENTS);
  for (const path of HANGING) {
    await receiver.configure(path, { answers: [{ status: 200, hold: true }] });
    await registerPath(server, receiver, path);
  }
  // The other jobs have come, and left what they take.
  for (const job of ['license-scan', 'certificate-upkeep']) await server.logLines({ msg: 'job done', job });
  const memoryBefore = residentMb(server);

  await causeEvents(server, EVENTS);
  expect(await p95Of(receiver, EVENTS, EVENTS)).toBeLessThan(P95_MS);

  // By now it is known of each that it hangs, and every one of them has had its turn.
  await lookUntil(async () => {
    const { webhooks } = await server.admin.listWebhooks({ limit: 100 });
    const failing = webhooks.filter(({ last_error: error }) => error === 'no answer within 4 s');
    return failing.length === HANGING.length || undefined;
  });
  await causeEvents(server, EVENTS);
  expect(await p95Of(receiver, 2 * EVENTS, EVENTS)).toBeLessThan(P95_MS);

  const arrivals = HANGING.map((path) => receiver.to(path).map(({ at }) => at));
  for (const times of arrivals) expect(mostAtOnce(times)).toBeLessThanOrEqual(2);
  expect(mostAtOnce(arrivals.flat())).toBeLessThanOrEqual(20);
  expect(residentMb(server) - memoryBefore).toBeLessThan(20);
  for (const path of PROMPT) expect(receiver.to(path)).toHaveLength(3 * EVENTS);
  expect((await server.kill()).code).toBe(0);
});
