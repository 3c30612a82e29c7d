// Queues are bounded, and callers who went away do not keep their place in them.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { Transaction } from 'sequelize';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { createTransactions, type RunTransaction } from '#server/database/transaction.ts';
import { atOnce } from '../helpers/at-once.ts';
import { newBearer, newFingerprint, newLicense } from '../helpers/contract-calls.ts';
import { eventually } from '../helpers/eventually.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { newDataDir, startTestServer, type TestServer } from '../helpers/test-server.ts';

describe('changes that wait for SQLite', () => {
  let close: () => Promise<void>;
  let transaction: RunTransaction;

  beforeAll(async () => {
    const sequelize = await connect(
      { url: null, file: join(await newDataDir(), 'queue.db') },
      { create: true },
    );
    transaction = createTransactions(sequelize);
    close = () => sequelize.close();
  });
  afterAll(() => close());

  const nothing = async () => 'done';

  it('are refused as overloaded beyond 1,000 of public callers, and beyond 2,000 in total', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const gone = new Set<number>();
    const callers = Array.from({ length: 1000 }, (_, number) => ({ isGone: () => gone.has(number) }));
    const first = transaction(() => held);
    const waiting = callers.map((caller) => transaction(nothing, caller).catch((error: unknown) => error));
    const here = { isGone: () => false };
    await expect(transaction(nothing, here)).rejects.toMatchObject({
      code: 'overloaded',
      status: 503,
      headers: { 'Retry-After': '2' },
    });
    const others = Array.from({ length: 1000 }, () => transaction(nothing));
    await expect(transaction(nothing)).rejects.toMatchObject({ code: 'overloaded' });
    gone.add(500);
    letGo();
    await first;
    const ends = await Promise.all(waiting);
    // The one under way counts, too.
    expect(ends.filter((end) => end === 'done')).toHaveLength(998);
    expect(ends[500]).toMatchObject({ status: 499 });
    expect(ends[999]).toMatchObject({ code: 'overloaded' });
    expect(new Set(await Promise.all(others))).toEqual(new Set(['done']));
    expect(await transaction(nothing, here)).toBe('done');
  });
});

describe('callers who went away', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  /** Sends an activation and closes the connection without waiting for the reply. */
  async function sendAndLeave(id: string, body: string): Promise<void> {
    const { hostname, port, pathname } = new URL(`${server.api}/activate/`);
    const socket = createConnection({ host: hostname, port: Number(port) });
    const head = [
      `POST ${pathname} HTTP/1.1`,
      `Host: ${hostname}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      `X-Request-Id: ${id}`,
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    await once(socket, 'finish');
    socket.destroy();
  }

  const log = () => readFileSync(join(server.dataDir, 'logs', 'license-desk.1.log'), 'utf8');

  it('are not activated when their turn comes', async () => {
    const { license_key } = await newLicense(server, { plan: 'enterprise' });
    const other = await connect({ url: null, file: join(server.dataDir, 'license-desk.db') });
    const lock = await other.transaction({ type: Transaction.TYPES.IMMEDIATE });
    const bodyOf = (name: string) =>
      JSON.stringify({ license_key, machine_fingerprint: newFingerprint(), machine_name: name });
    const activate = (name: string) => server.post('/activate/', JSON.parse(bodyOf(name)));
    // Holds the writer's place until the lock is released.
    const first = activate('first');
    await atOnce(5, (number) => sendAndLeave(`left-${number}`, bodyOf(`left-${number}`)));
    const last = activate('last');
    const isOver = (id: string) => log().includes(`"request_id":"${id}"`);
    await eventually(() => expect([0, 1, 2, 3, 4].every((number) => isOver(`left-${number}`))).toBe(true));
    await lock.rollback();
    await other.close();
    expect((await last).status).toBe(200);
    await first;
    const { items } = await server.admin.listDevices({ ref: license_key });
    expect(items.map(({ machine_name: name }) => name).filter((name) => name?.startsWith('left'))).toEqual(
      [],
    );
  });

  it('do not get a key; too many keys at once are refused', async () => {
    const bearer = await newBearer(server);
    const { license_id } = await newLicense(server);
    await server.admin.showAuthority({});
    const leaving = new AbortController();
    const order = (key_size: number, signal?: AbortSignal) =>
      fetch(`${server.api}/certs/generate/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer },
        body: JSON.stringify({ license_id, common_name: `key-${key_size}`, key_size }),
        ...(signal ? { signal } : {}),
      });
    const replies: Response[] = [];
    const ended = atOnce(20, () =>
      order(4096, leaving.signal).then(
        (reply) => replies.push(reply),
        () => undefined,
      ),
    );
    await eventually(() =>
      expect(replies.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(10),
    );
    const refused = replies.find(({ status }) => status === 429);
    expectFailure({ status: refused!.status, body: await refused!.json() }, 'rate_limited');
    expect(refused!.headers.get('retry-after')).toBe('6');
    leaving.abort();
    await ended;
    const made = replies.filter(({ status }) => status === 200).length;
    // Waits for its turn behind those whose callers are still there: none.
    expect((await order(2048)).status).toBe(200);
    const { items } = await server.admin.listCertificates({ license: String(license_id) });
    // The one that was being made when its caller left may have come to its end.
    expect(items.length).toBeLessThanOrEqual(made + 2);
  });
});
