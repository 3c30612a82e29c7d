// Receivers that accept a request and never answer: the real server beside them.
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { atOnce } from '../helpers/at-once.ts';
import { selectRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { CertificateAuthority } from './certificate-authority.ts';
import { startReceiver } from './receiver.ts';

/** A tenth is allowed, and this much for a machine that is busy with other tests. */
const SLACK_MS = Number(process.env['LICENSE_DESK_TIMING_SLACK_MS'] ?? 60_000);

/** After this, an attempt counts as hanging. */
const HANGING_MS = 1200;

interface HangingReceivers {
  flags: Record<string, string>;
  url(path: string): string;
  /** How many requests wait for an answer now. */
  held(): number;
  /** The paths of the requests that were answered. */
  answered: string[];
}

/**
 * Answers `/working…` and keeps every other request waiting.
 * @param slowBeside the second answer comes so late that so many others are hanging
 */
async function startReceivers(slowBeside = 0): Promise<HangingReceivers> {
  const authority = new CertificateAuthority();
  const identity = authority.issue({});
  const caFile = join(temporaryDirectory('ca'), 'ca.pem');
  writeFileSync(caFile, authority.cert);
  authority.remove();
  const waiting = new Set<ServerResponse>();
  const answered: string[] = [];
  const { port } = await startReceiver(identity, ({ url = '' }, response) => {
    const answer = () => {
      answered.push(url);
      response.end();
    };
    if (!url.startsWith('/working')) {
      waiting.add(response);
      response.once('close', () => waiting.delete(response));
    } else if (answered.length === 1 && slowBeside > 0) {
      void eventually(() => expect(waiting.size).toBe(slowBeside)).then(() => setTimeout(answer, HANGING_MS));
    } else answer();
  });
  return {
    flags: { 'webhook-allow': '127.0.0.0/8', 'webhook-ca': caFile },
    url: (path) => `https://127.0.0.1:${port}${path}`,
    held: () => waiting.size,
    answered,
  };
}

async function serve(receivers: HangingReceivers, flags: Record<string, string>): Promise<ServerProcess> {
  const server = await startServerProcess({
    dataDir: temporaryDirectory(),
    flags: { ...receivers.flags, ...flags },
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  return server;
}

const register = ({ admin }: ServerProcess, receivers: HangingReceivers, name: string, count: number) =>
  atOnce(count, (number) =>
    admin.registerWebhook({ url: receivers.url(`/${name}-${number}`), scope: 'license.renewed' }),
  );

async function newLicense({ admin }: ServerProcess): Promise<() => Promise<unknown>> {
  const { license } = await admin.createLicense({ holder: 'Geduld & Söhne' });
  return () => admin.renewLicense({ ref: license.license_key, days: 1 });
}

function residentMb({ pid }: ServerProcess): number {
  return Number(/^VmRSS:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

describe('receivers that hang', () => {
  it('are retried on time, 19 at a time', async () => {
    const unitMs = 200;
    const receivers = await startReceivers();
    const server = await serve(receivers, {
      'webhook-backoff-seconds': String(unitMs / 1000),
      'webhook-timeout-seconds': '4',
    });
    await register(server, receivers, 'hanging', 19);
    await (
      await newLicense(server)
    )();
    await eventually(async () => {
      const sql = 'SELECT delivery_id FROM delivery_attempts GROUP BY delivery_id HAVING count(*) >= 2';
      expect(await selectRows(server.dataDir, sql)).toHaveLength(19);
    });
    const rows: { delivery_id: number; started_at: number; ms: number }[] = await selectRows(
      server.dataDir,
      'SELECT delivery_id, started_at, ms FROM delivery_attempts ORDER BY id',
    );
    const attempts = Map.groupBy(rows, ({ delivery_id: id }) => id);
    const firstOnes = [...attempts.values()].map(([first]) => first!);
    const lastBegin = Math.max(...firstOnes.map(({ started_at: begin }) => begin));
    const firstEnd = Math.min(...firstOnes.map(({ started_at: begin, ms }) => begin + ms));
    // Retries had to wait for each other if fewer were under way at once.
    expect(lastBegin).toBeLessThan(firstEnd);
    for (const [first, second] of attempts.values()) {
      const gap = (second?.started_at ?? NaN) - ((first?.started_at ?? NaN) + (first?.ms ?? NaN));
      // Durations are rounded.
      expect(gap).toBeGreaterThanOrEqual(unitMs - 1);
      expect(gap).toBeLessThanOrEqual(unitMs * 1.1 + SLACK_MS);
    }
  });

  it('leave slots to one that works, even slowly, and do not keep the server from stopping', async () => {
    const receivers = await startReceivers(200);
    // On a busy machine, a handshake with the one that works may take more than 5 s; it is tried again soon.
    const server = await serve(receivers, {
      'webhook-timeout-seconds': '600',
      'webhook-backoff-seconds': '1',
    });
    const renew = await newLicense(server);
    await register(server, receivers, 'working', 1);
    await renew();
    await eventually(() => expect(receivers.answered).toHaveLength(1));
    await register(server, receivers, 'hanging', 200);
    // The threads of the other jobs are there by then.
    for (const job of ['license-scan', 'certificate-upkeep']) await server.logLines({ msg: 'job done', job });
    const memoryBefore = residentMb(server);
    await renew();
    await eventually(() => expect(receivers.answered).toHaveLength(2));
    for (let events = 3; events <= 7; events += 1) {
      await renew();
      await eventually(() => expect(receivers.answered).toHaveLength(events));
    }
    expect(receivers.held()).toBeGreaterThanOrEqual(200);
    expect(residentMb(server) - memoryBefore).toBeLessThan(80);

    // Within 5 s: a stop that takes longer ends with 1.
    expect((await server.kill()).code).toBe(0);
    // A handshake that takes more than 5 s is an attempt, too.
    const states = await selectRows(
      server.dataDir,
      `SELECT replace(status, 'retrying', 'pending') AS state, attempts - timeouts AS attempts, count(*) AS count
       FROM (SELECT *, (SELECT count(*) FROM delivery_attempts
         WHERE delivery_id = deliveries.id AND error_class = 'timeout') AS timeouts FROM deliveries)
       GROUP BY 1, 2 ORDER BY 1`,
    );
    expect(states).toEqual([
      { state: 'delivered', attempts: 1, count: 7 },
      { state: 'pending', attempts: 0, count: 1200 },
    ]);
  });
});
