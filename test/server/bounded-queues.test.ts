// Queues are bounded, and callers who went away do not keep their place in them.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { Transaction } from 'sequelize';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connect, createPostgresPool } from '#server/database/connect.ts';
import { createTransactions, type RunTransaction } from '#server/database/transaction.ts';
import { createTurns, type TakeTurn } from '#server/database/turns.ts';
import { atOnce } from '../helpers/at-once.ts';
import {
  newBearer,
  newFingerprint,
  newFloatingLicense,
  newInstanceId,
  newLicense,
} from '../helpers/contract-calls.ts';
import { eventually } from '../helpers/eventually.ts';
import { checkOut, seatsOf } from '../helpers/leases.ts';
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

describe('changes of one floating license that wait for their turn on PostgreSQL', () => {
  let takeTurn: TakeTurn;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    // It is never connected.
    takeTurn = createTurns(await createPostgresPool('postgres://127.0.0.1/none'));
  });

  afterEach(() => void vi.useRealTimers());

  const here = { isGone: () => false };
  const end = async (hasWaited: boolean) => hasWaited;
  const outcomeOf = (turn: Promise<unknown>) => turn.catch((error: unknown) => error);

  it('begin in the order in which they came, and hold up no other license', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const order: number[] = [];
    const first = takeTurn(1, () => held, here);
    const others = [1, 2, 3].map((number) => takeTurn(1, async () => void order.push(number), here));
    expect(await takeTurn(2, end, here)).toBe(false);
    letGo();
    await Promise.all([first, ...others]);
    expect(order).toEqual([1, 2, 3]);
    expect(await takeTurn(1, end, here)).toBe(false);
  });

  it('are refused as overloaded beyond 500 public callers of a license, 1,000 of all, and 2,000 in total', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const first = [1, 2, 3].map((license) => takeTurn(license, () => held, here));
    const gone = new Set<number>();
    const callersOf = (license: number) =>
      atOnce(500, (number) =>
        outcomeOf(takeTurn(license, end, { isGone: () => license === 1 && gone.has(number) })),
      );
    const refusal = { code: 'overloaded', status: 503, headers: { 'Retry-After': '2' } };
    const waiting = callersOf(1);
    await expect(takeTurn(1, end, here)).rejects.toMatchObject(refusal);
    const ofAnother = callersOf(2);
    await expect(takeTurn(3, end, here)).rejects.toMatchObject(refusal);
    const others = atOnce(1000, () => takeTurn(1, end));
    await expect(takeTurn(1, end)).rejects.toMatchObject(refusal);
    gone.add(300);
    letGo();
    await Promise.all(first);
    const ends = await waiting;
    expect(ends.filter((hasWaited) => hasWaited === true)).toHaveLength(499);
    expect(ends[300]).toMatchObject({ status: 499 });
    expect(new Set(await ofAnother)).toEqual(new Set([true]));
    expect(new Set(await others)).toEqual(new Set([true]));
    expect(await takeTurn(1, end, here)).toBe(false);
  });

  it('are refused after ten seconds, and begin although an earlier one never ends', async () => {
    const never = new Promise<void>(() => {});
    void takeTurn(1, () => never, here);
    const second = outcomeOf(takeTurn(1, () => never, here));
    await vi.advanceTimersByTimeAsync(1000);
    const third = outcomeOf(takeTurn(1, end, here));
    // The first one is given up, and the second one, which has waited for as long, has its turn just in time.
    await vi.advanceTimersByTimeAsync(9000);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await third).toMatchObject({ fault: 'busy' });
    const fourth = takeTurn(1, end, here);
    await vi.advanceTimersByTimeAsync(9000);
    expect(await fourth).toBe(true);
    expect(await Promise.race([second, 'running'])).toBe('running');
    expect(await takeTurn(1, end, here)).toBe(false);
  });
});

describe('callers who went away', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  /**
   * Closes the connection without waiting for the reply.
   * @param length of the body as the request states it; more than it has to leave in its middle
   */
  async function sendAndLeave(url: string, id: string, body: string, length = body.length): Promise<void> {
    const { hostname, port, pathname } = new URL(url);
    const socket = createConnection({ host: hostname, port: Number(port) });
    const head = [
      `POST ${pathname} HTTP/1.1`,
      `Host: ${hostname}`,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
      `X-Request-Id: ${id}`,
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    await once(socket, 'finish');
    socket.destroy();
  }

  async function untilOver({ dataDir }: TestServer, ids: readonly string[]): Promise<void> {
    const log = () => readFileSync(join(dataDir, 'logs', 'license-desk.1.log'), 'utf8');
    await eventually(() => expect(ids.filter((id) => !log().includes(`"request_id":"${id}"`))).toEqual([]));
  }

  const idsOf = (name: string) => [0, 1, 2, 3, 4].map((number) => `${name}-${number}`);

  /** @returns releases the lock */
  async function lockDatabase({ dataDir }: TestServer): Promise<() => Promise<void>> {
    const other = await connect({ url: null, file: join(dataDir, 'license-desk.db') });
    const lock = await other.transaction({ type: Transaction.TYPES.IMMEDIATE });
    return async () => {
      await lock.rollback();
      await other.close();
    };
  }

  it('are not activated when their turn comes', async () => {
    const { license_key } = await newLicense(server, { plan: 'enterprise' });
    const unlock = await lockDatabase(server);
    const bodyOf = (name: string) =>
      JSON.stringify({ license_key, machine_fingerprint: newFingerprint(), machine_name: name });
    const activate = (name: string) => server.post('/activate/', JSON.parse(bodyOf(name)));
    // Holds the writer's place until the lock is released.
    const first = activate('first');
    const ids = idsOf('left');
    await Promise.all(ids.map((id) => sendAndLeave(`${server.api}/activate/`, id, bodyOf(id))));
    const last = activate('last');
    await untilOver(server, ids);
    await unlock();
    expect((await last).status).toBe(200);
    await first;
    const { items } = await server.admin.listDevices({ ref: license_key });
    expect(items.map(({ machine_name: name }) => name).filter((name) => name?.startsWith('left'))).toEqual(
      [],
    );
  });

  it('are not taken for callers who guess license keys', async () => {
    const limited = await startTestServer({ flags: { 'rate-limit-public': '3' } });
    onTestFinished(() => limited.stop());
    const license = await newFloatingLicense(limited, { seats: 10 });
    const leave = (id: string, length?: number) => {
      const body = JSON.stringify({ license_key: license.license_key, instance_id: newInstanceId() });
      return sendAndLeave(`${limited.api}/leases/checkout/`, id, body, length);
    };
    const unlock = await lockDatabase(limited);
    // Holds the writer's place until the lock is released.
    const first = checkOut(limited, license);
    const [whole, part] = [idsOf('whole'), idsOf('part')];
    await Promise.all([...whole.map((id) => leave(id)), ...part.map((id) => leave(id, 1000))]);
    await untilOver(limited, [...whole, ...part]);
    const last = checkOut(limited, license);
    await unlock();
    for (const { status } of [await first, await last, await checkOut(limited, license)])
      expect(status).toBe(200);
    expect((await seatsOf(limited.dataDir, license.license_id)).held).toBe(3);
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
      expect(replies.filter(({ status }) => status === 503).length).toBeGreaterThanOrEqual(10),
    );
    const refused = replies.find(({ status }) => status === 503);
    expectFailure({ status: refused!.status, body: await refused!.json() }, 'overloaded');
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
