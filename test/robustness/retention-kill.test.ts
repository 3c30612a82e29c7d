// `kill -9` in the middle of a retention run, and the run of the real job that continues it while devices are activated.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { selectRows, writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { fingerprintOf, startTestServer } from '../helpers/test-server.ts';

const EVENTS = 1500;
const KILL_AFTER_BATCHES = 11;
const AGO = Date.now() - 500 * 86_400_000;
const IDS = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${EVENTS})`;

const OLD_DELIVERIES = [
  `INSERT INTO webhooks (id, url, scope, secret_sealed, created_at, deleted_at)
   VALUES (900, 'https://receiver.example/', 'all', 'none', 0, 1)`,
  `INSERT INTO events (id, name, body, created_at) ${IDS} SELECT i, 'license.activated', '{}', ${AGO} FROM n`,
  `INSERT INTO deliveries (id, event_id, webhook_id, status, created_at)
   ${IDS} SELECT i, i, 900, 'delivered', ${AGO} FROM n`,
  `INSERT INTO delivery_attempts (delivery_id, started_at, ms, delivered, reply)
   ${IDS} SELECT i, ${AGO}, 5, 1, 'ok' FROM n`,
];

async function killWhilePruning(dataDir: string): Promise<void> {
  const program = join(import.meta.dirname, '../helpers/retention-process.ts');
  const child = spawn(process.execPath, [program, dataDir, String(KILL_AFTER_BATCHES)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  let batches = 0;
  for await (const line of createInterface(child.stdout)) {
    expect(Number(line)).toBeLessThanOrEqual(200);
    batches += 1;
  }
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(batches).toBe(KILL_AFTER_BATCHES);
}

it('a killed run leaves a consistent database, and the job continues it beside activations', async () => {
  const dataDir = await keptDataDir();
  const first = await startTestServer({ dataDir });
  const { license } = await first.admin.createLicense({ holder: 'Acme', plan: 'enterprise' });
  await first.stop();
  await writeRows(dataDir, ...OLD_DELIVERIES);

  await killWhilePruning(dataDir);
  expect(await selectRows(dataDir, 'PRAGMA foreign_key_check')).toEqual([]);
  const [left] = await selectRows(
    dataDir,
    `SELECT (SELECT count(*) FROM deliveries) AS deliveries,
       (SELECT count FROM pruned_deliveries WHERE status = 'delivered') AS pruned,
       (SELECT removed_total FROM retention_runs WHERE kind = 'deliveries') AS noted`,
  );
  expect(left.deliveries).toBeGreaterThan(0);
  expect([left.deliveries + left.pruned, left.noted]).toEqual([EVENTS, left.pruned]);

  const server = await startTestServer({ dataDir, settleMs: 1 });
  const activations = Array.from({ length: 20 }, (_, device) =>
    server.post('/activate/', {
      license_key: license.license_key,
      machine_fingerprint: fingerprintOf(device),
    }),
  );
  expect((await Promise.all(activations)).map(({ status }) => status)).toEqual(Array(20).fill(200));
  await eventually(async () => {
    const { items } = await server.admin.showRetention({});
    const removed = Object.fromEntries(items.map((item) => [item.kind, item.removed_total]));
    expect(removed).toMatchObject({ attempts: EVENTS, deliveries: EVENTS, events: EVENTS, webhooks: 1 });
  });
  expect((await server.admin.stats({})).webhooks).toMatchObject({ delivered: EVENTS });
  expect(await selectRows(dataDir, 'PRAGMA foreign_key_check')).toEqual([]);
  await server.stop();
});
