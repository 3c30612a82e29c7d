// `kill -9` around a delivery: nothing is lost, and what comes twice is the same delivery.
import { afterEach, beforeAll, expect, it } from 'vitest';
import { selectRows, whileNobodyWrites } from '../helpers/database.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { allIn, lookUntil, type Registered, registerPath, webhookFlags } from './partner.ts';
import { type PythonReceiver, type Received, startPythonReceiver } from './python-receiver.ts';

const ROUNDS = roundsOr(1);
/** Changes in each round. */
const CHANGES = 2;

let receiver: PythonReceiver;
beforeAll(async () => {
  receiver = await startPythonReceiver();
});
afterEach(() => receiver.resume());

const serve = (dataDir: string): Promise<ServerProcess> =>
  startServerProcess({ dataDir, flags: webhookFlags(receiver, 0.2) });

async function change({ admin }: ServerProcess, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const { license } = await admin.createLicense({ holder: 'Přežil s.r.o.' });
    await admin.renewLicense({ ref: license.license_key, days: 1 });
  }
}

async function statesIn(dataDir: string): Promise<string[]> {
  const rows = await selectRows(dataDir, 'SELECT status FROM deliveries ORDER BY id');
  return rows.map(({ status }) => status as string);
}

/** Every change has reached the receiver, each as one delivery, whose every copy is the same. */
async function expectAll(
  server: ServerProcess,
  registered: Registered,
  path: string,
  changes: number,
): Promise<void> {
  expect(await selectRows(server.dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  const events = await selectRows(
    server.dataDir,
    `SELECT id FROM events WHERE name = 'license.renewed' ORDER BY id DESC`,
  );
  expect(events).toHaveLength(changes);
  const ids: number[] = [];
  for (let cursor: string | undefined; ;) {
    const page = { webhook_id: registered.webhook.id, limit: 500, ...(cursor ? { cursor } : {}) };
    const { items, next_cursor: next } = await server.admin.listDeliveries(page);
    expect(items.filter(({ status }) => status !== 'delivered')).toEqual([]);
    ids.push(...items.map(({ id }) => id));
    if (next === null) break;
    cursor = next;
  }
  const copies = Map.groupBy(receiver.to(path), ({ delivery }: Received) => delivery);
  expect([...copies.keys()].toSorted((a, b) => b - a)).toEqual(ids);
  expect(ids).toHaveLength(changes);
  for (const same of copies.values()) {
    const different = new Set(same.map(({ sha256, message, event }) => `${sha256} ${message} ${event}`));
    expect(different.size).toBe(1);
  }
  expect(new Set([...copies.values()].map(([first]) => first?.message)).size).toBe(changes);
}

it('loses nothing in kills between the commit and the POST', async () => {
  const dataDir = temporaryDirectory();
  const path = '/before-post';
  let server = await serve(dataDir);
  const registered = await registerPath(server, receiver, path);
  await receiver.configure(path, { answers: [{ status: 200, close: true }] });
  let expected = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = receiver.to(path).length;
    // No connection is open, and none gets past the handshake: nothing can be posted.
    receiver.pause();
    await change(server, CHANGES);
    expected += CHANGES;
    // In one round right behind the reply, in the next one when the dispatcher has taken them on.
    if (round % 2 === 1) {
      await lookUntil(async () => {
        const states = await statesIn(dataDir);
        return states.filter((state) => state === 'delivering').length >= 2 || undefined;
      });
    }
    expect((await server.kill('SIGKILL')).code).toBe(null);
    receiver.resume();
    const open = (await statesIn(dataDir)).filter((state) => state !== 'delivered');
    expect(open).toHaveLength(CHANGES);

    server = await serve(dataDir);
    const received = await receiver.received(path, before + CHANGES);
    expect(new Set(received.slice(before).map(({ delivery }) => delivery)).size).toBe(CHANGES);
    await lookUntil(
      async () => (await statesIn(dataDir)).every((state) => state === 'delivered') || undefined,
    );
    // Never sent before the kill, so never twice.
    expect(receiver.to(path)).toHaveLength(before + CHANGES);
  }
  await expectAll(server, registered, path, expected);
  expect((await server.kill()).code).toBe(0);
});

it('sends again what it did not write down, through kills after the receiver’s 200', async () => {
  const dataDir = temporaryDirectory();
  const path = '/after-200';
  let server = await serve(dataDir);
  const registered = await registerPath(server, receiver, path);
  let expected = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = receiver.to(path).length;
    const answersBefore = receiver.answers(path).length;
    await receiver.configure(path, { answers: [{ status: 200, hold: true }] });
    await change(server, CHANGES);
    expected += CHANGES;
    const underWay = (await receiver.received(path, before + CHANGES)).slice(before);
    await whileNobodyWrites(dataDir, async () => {
      await receiver.configure(path, { answers: [{ status: 200 }] });
      await receiver.release(path);
      await receiver.answered(path, answersBefore + CHANGES);
      expect((await server.kill('SIGKILL')).code).toBe(null);
    });
    const states = await statesIn(dataDir);
    expect(states.filter((state) => state === 'delivering')).toHaveLength(CHANGES);

    server = await serve(dataDir);
    await lookUntil(
      async () => (await statesIn(dataDir)).every((state) => state === 'delivered') || undefined,
    );
    // All that had been accepted came once more.
    const later = receiver.to(path).slice(before + CHANGES);
    const idsOf = (requests: Received[]) =>
      requests.map(({ delivery }) => delivery).toSorted((a, b) => a - b);
    expect(idsOf(later)).toEqual(idsOf(underWay));
  }
  await allIn(server, registered, 'delivered', Math.min(expected, 500));
  await expectAll(server, registered, path, expected);
  expect((await server.kill()).code).toBe(0);
});

it(`loses nothing, wherever a kill meets a stream of changes`, async () => {
  const dataDir = temporaryDirectory();
  const path = '/anywhere';
  let server = await serve(dataDir);
  const registered = await registerPath(server, receiver, path);
  for (let round = 0; round < Math.ceil(ROUNDS / 3); round += 1) {
    const before = receiver.to(path).length;
    const changing = change(server, 200).catch(() => undefined);
    // From the first POST to the fifteenth.
    await receiver.received(path, before + 1 + (round % 15));
    await server.kill('SIGKILL');
    await changing;
    server = await serve(dataDir);
    await lookUntil(
      async () => (await statesIn(dataDir)).every((state) => state === 'delivered') || undefined,
    );
  }
  const [{ count }] = (await selectRows(
    dataDir,
    `SELECT count(*) AS count FROM events WHERE name = 'license.renewed'`,
  )) as [{ count: number }];
  await expectAll(server, registered, path, count);
  expect((await server.kill()).code).toBe(0);
});
