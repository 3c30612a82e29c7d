// The dispatcher claims and records many deliveries in one statement: each still ends as it would alone.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { selectRows, whileNobodyWrites, writeRows } from '../helpers/database.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { allIn, attemptsOnce, lookUntil, type Registered, registerPath, webhookFlags } from './partner.ts';
import { type PythonReceiver, startPythonReceiver } from './python-receiver.ts';

const HELD = { answers: [{ status: 200, hold: true }] };

let receiver: PythonReceiver;
let server: ServerProcess;
let key: string;
beforeAll(async () => {
  receiver = await startPythonReceiver();
  server = await startServerProcess({
    dataDir: temporaryDirectory(),
    // No answer that is held back is given up.
    flags: { ...webhookFlags(receiver, 0.01), 'webhook-timeout-seconds': '600' },
  });
  key = (await server.admin.createLicense({ holder: 'Všechno najednou' })).license.license_key;
});
afterAll(() => server.kill());

const renew = () => server.admin.renewLicense({ ref: key, days: 1 });

/** Registers paths that receive renewals, and keeps back their answers. */
async function registerHeld(name: string, count: number) {
  const paths = Array.from({ length: count }, (_, number) => `/${name}-${number}`);
  const registered: Registered[] = [];
  for (const path of paths) {
    registered.push(await registerPath(server, receiver, path, 'license.renewed'));
    await receiver.configure(path, HELD);
  }
  return { paths, registered };
}

/** Gives all answers before the first of their outcomes can be written, so that most are written together. */
async function releaseTogether(paths: readonly string[]): Promise<void> {
  await whileNobodyWrites(server.dataDir, async () => {
    for (const path of paths) {
      await receiver.configure(path, { answers: [{ status: 200 }] });
      await receiver.release(path);
      await receiver.answered(path, 1);
    }
  });
}

async function removeWebhooks(registered: readonly Registered[]): Promise<void> {
  for (const { webhook } of registered) await server.admin.deleteWebhook({ id: webhook.id });
}

/** @returns the deliveries of the newest event, in the order of their webhooks */
const newestDeliveries = () =>
  selectRows(
    server.dataDir,
    `SELECT id, status, attempts, next_attempt_at FROM deliveries
     WHERE event_id = (SELECT max(event_id) FROM deliveries) ORDER BY webhook_id`,
  );

it('writes the other outcomes if the database rejects one', async () => {
  const { paths, registered } = await registerHeld('one-rejected', 8);
  await renew();
  for (const path of paths) await receiver.received(path, 1);
  const deliveries = await newestDeliveries();
  const rejected = deliveries[3] as { id: number };
  await writeRows(
    server.dataDir,
    `CREATE TRIGGER refuse BEFORE INSERT ON delivery_attempts WHEN NEW.delivery_id = ${rejected.id}
     BEGIN SELECT RAISE(ABORT, 'this row is damaged'); END`,
  );
  await releaseTogether(paths);
  for (const [index, one] of registered.entries()) if (index !== 3) await allIn(server, one, 'delivered', 1);
  await server.logLines({ job: 'webhook-dispatcher', msg: 'SQLITE_CONSTRAINT: this row is damaged' });

  await writeRows(server.dataDir, 'DROP TRIGGER refuse');
  await allIn(server, registered[3]!, 'delivered', 1);
  // Written once each, and nothing was sent twice for it.
  for (const { id } of deliveries) expect(await attemptsOnce(server, id, 1)).toHaveLength(1);
  for (const path of paths) expect(receiver.to(path)).toHaveLength(1);
  await removeWebhooks(registered);
});

it('leaves alone what was cancelled, concluded or started again meanwhile', async () => {
  const { paths, registered } = await registerHeld('changed', 6);
  await renew();
  for (const path of paths) await receiver.received(path, 1);
  const [, cancelled, concluded, restarted, claimed] = await newestDeliveries();
  await server.admin.deleteWebhook({ id: registered[1]!.webhook.id });
  // As another server does, once the lease has ended.
  const later = Date.now() + 3_600_000;
  await writeRows(
    server.dataDir,
    `UPDATE deliveries SET status = 'failed', attempts = 6, next_attempt_at = NULL WHERE id = ${concluded.id}`,
    `UPDATE deliveries SET status = 'pending', next_attempt_at = ${later} WHERE id = ${restarted.id}`,
    `UPDATE deliveries SET next_attempt_at = ${later} WHERE id = ${claimed.id}`,
  );
  await releaseTogether(paths);
  // Every attempt was made, and is written down.
  for (const { id } of await newestDeliveries()) await attemptsOnce(server, id, 1);
  expect(await newestDeliveries()).toMatchObject([
    { status: 'delivered', attempts: 1, next_attempt_at: null },
    { id: cancelled.id, status: 'cancelled', attempts: 0, next_attempt_at: null },
    { status: 'failed', attempts: 6, next_attempt_at: null },
    { status: 'pending', attempts: 0, next_attempt_at: later },
    { status: 'delivering', attempts: 0, next_attempt_at: later },
    { status: 'delivered', attempts: 1, next_attempt_at: null },
  ]);
  await removeWebhooks([registered[0]!, ...registered.slice(2)]);
});

it('claims for each webhook as many as it may get, the oldest first', async () => {
  const { paths, registered } = await registerHeld('counted', 3);
  const [failing, , working] = registered.map(({ webhook }) => webhook.id);
  const pause = async (paused: boolean) => {
    for (const { webhook } of registered) await server.admin.updateWebhook({ id: webhook.id, paused });
  };
  await pause(true);
  for (let events = 0; events < 5; events += 1) await renew();
  await writeRows(
    server.dataDir,
    `UPDATE webhooks SET last_delivery_at = 1, last_error = 'HTTP 500' WHERE id = ${failing}`,
    `UPDATE webhooks SET last_delivery_at = 1, last_error = NULL WHERE id = ${working}`,
    // The event that is due first.
    `UPDATE deliveries SET next_attempt_at = 1 WHERE webhook_id = ${working} AND event_id = (SELECT max(event_id) FROM deliveries)`,
  );
  const own = async (index: number) =>
    (
      await selectRows(
        server.dataDir,
        `SELECT id FROM deliveries WHERE webhook_id = ${registered[index]!.webhook.id} ORDER BY id`,
      )
    ).map(({ id }) => id as number);
  // All at once, unlike calls that follow each other.
  const ids = registered.map(({ webhook }) => webhook.id).join(', ');
  await writeRows(server.dataDir, `UPDATE webhooks SET paused_at = NULL WHERE id IN (${ids})`);

  const sent = async (index: number, count: number) =>
    (await receiver.received(paths[index]!, count)).map(({ delivery }) => delivery).toSorted((a, b) => a - b);
  expect(await sent(0, 5)).toEqual(await own(0));
  expect(await sent(1, 2)).toEqual((await own(1)).slice(0, 2));
  const [first, , , , last] = await own(2);
  expect(await sent(2, 2)).toEqual([first, last]);
  for (const path of paths) {
    await receiver.configure(path, { answers: [{ status: 200 }] });
    await receiver.release(path);
  }
  for (const one of registered) await allIn(server, one, 'delivered', 5);
  await lookUntil(async () => receiver.answers(paths[1]!).length === 5 || undefined);
  for (const path of paths) expect(receiver.to(path)).toHaveLength(5);
});
