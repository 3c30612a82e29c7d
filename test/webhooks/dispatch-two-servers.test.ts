// Two servers on one PostgreSQL database: each delivery is sent by one of them, and one goes on where the other died.
import { QueryTypes, type Sequelize, type Transaction } from 'sequelize';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { atOnce } from '../helpers/at-once.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { lookUntil, registerPath, registerWebhook, webhookFlags } from './partner.ts';
import { type PythonReceiver, type Received, startPythonReceiver } from './python-receiver.ts';

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';
const PATHS = ['/a', '/b', '/c', '/d', '/e', '/f'];
/** An attempt that takes longer is made again. */
const TIMEOUT_SECONDS = 60;
/** Leases end 15 s later. */
const SHORT_TIMEOUT_SECONDS = 4;
const RENEWALS = roundsOr(40);
const MASTER_KEY = Buffer.alloc(32, 9).toString('base64');

describe.skipIf(!hasPostgres)(`two servers on one database${why}`, () => {
  let receiver: PythonReceiver;
  let database: Sequelize;
  let url: string;
  let servers: [ServerProcess, ServerProcess];

  const serve = (timeoutSeconds = TIMEOUT_SECONDS) =>
    startServerProcess({
      dataDir: temporaryDirectory(),
      flags: {
        ...webhookFlags(receiver, 0.2),
        'database-url': url,
        'webhook-timeout-seconds': String(timeoutSeconds),
      },
      env: { LICENSE_DESK_MASTER_KEY: MASTER_KEY },
    });

  beforeAll(async () => {
    receiver = await startPythonReceiver();
    url = await newMigratedPostgresDatabase();
    servers = await Promise.all([serve(), serve()]);
    database = await connect({ url, file: '' });
    for (const path of PATHS) await registerPath(servers[0], receiver, path, 'license.renewed');
  });
  afterAll(async () => {
    await database.close();
    for (const server of servers) await server.kill();
  });

  // oxlint-disable-next-line typescript/no-explicit-any -- rows are whatever the query selects
  const select = (sql: string): Promise<any[]> => database.query(sql, { type: QueryTypes.SELECT });
  const openDeliveries = () =>
    select(`SELECT id FROM deliveries WHERE status NOT IN ('delivered', 'cancelled') LIMIT 1`);
  const allDelivered = () => lookUntil(async () => (await openDeliveries()).length === 0 || undefined);

  const isWaiting = async () =>
    (
      await select(
        `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      )
    ).length > 0;

  /** As a third server does it; the commit is still missing. */
  async function beginDeletion(webhookId: number): Promise<Transaction> {
    const transaction = await database.transaction();
    const change = { bind: [webhookId], transaction };
    await database.query('SELECT 1 FROM webhooks WHERE id = $1 FOR UPDATE', change);
    await database.query('UPDATE webhooks SET deleted_at = 1 WHERE id = $1', change);
    return transaction;
  }

  /** Each through one of the servers, in turns, ten at a time. */
  async function renew(through: readonly ServerProcess[], count: number): Promise<void> {
    const licenses = await atOnce(10, (number) =>
      servers[1].admin.createLicense({ holder: `Dvojí obsluha č. ${number}` }),
    );
    let left = count;
    await atOnce(10, async (number) => {
      const ref = licenses[number]?.license.license_key ?? '';
      for (; left > 0;) {
        left -= 1;
        await through[left % through.length]?.admin.renewLicense({ ref, days: 1 });
      }
    });
  }

  const verifies = ({ by_license, by_standard }: Received) => by_license.length > 0 && by_standard.length > 0;

  it('sends each delivery once, and by no means twice', async () => {
    await renew(servers, RENEWALS);
    await allDelivered();
    for (const path of PATHS) {
      const received = receiver.to(path);
      expect(received).toHaveLength(RENEWALS);
      expect(new Set(received.map(({ delivery }) => delivery)).size).toBe(RENEWALS);
      expect(received.every(verifies)).toBe(true);
    }
    expect(await select('SELECT count(*) AS count FROM delivery_attempts')).toEqual([
      { count: RENEWALS * PATHS.length },
    ]);
    expect(await select('SELECT DISTINCT attempts, last_error FROM deliveries')).toEqual([
      { attempts: 1, last_error: null },
    ]);
  });

  it('writes no delivery for a webhook whose deletion was first', async () => {
    const { webhook } = await registerWebhook(servers[0], receiver.url('/left'), 'license.revoked');
    const { license } = await servers[0].admin.createLicense({ holder: 'Zvlášť' });
    const deletion = await beginDeletion(webhook.id);
    const revoking = servers[1].admin.revokeLicense({ ref: license.license_key });
    await lookUntil(async () => (await isWaiting()) || undefined);
    await deletion.commit();
    await revoking;
    expect(await select(`SELECT * FROM deliveries WHERE webhook_id = ${webhook.id}`)).toEqual([]);
  });

  it('restarts no delivery for a webhook whose deletion was first', async () => {
    const { webhook } = await registerPath(servers[0], receiver, '/failed', 'license.revoked');
    const { license } = await servers[0].admin.createLicense({ holder: 'Zvlášť' });
    await servers[0].admin.revokeLicense({ ref: license.license_key });
    await allDelivered();
    const own = `webhook_id = ${webhook.id}`;
    await database.query(`UPDATE deliveries SET status = 'failed' WHERE ${own}`);
    const deletion = await beginDeletion(webhook.id);
    let hasEnded = false;
    const retry = async () => {
      const { retried } = await servers[1].admin.retryFailedDeliveries({ webhook_id: webhook.id });
      hasEnded = true;
      return retried;
    };
    const retrying = retry();
    await lookUntil(async () => hasEnded || (await isWaiting()) || undefined);
    await deletion.commit();
    expect(await retrying).toBe(0);
    expect(await select(`SELECT status FROM deliveries WHERE ${own}`)).toEqual([{ status: 'failed' }]);
    await database.query(`DELETE FROM delivery_attempts WHERE delivery_id IN
      (SELECT id FROM deliveries WHERE ${own})`);
    await database.query(`DELETE FROM deliveries WHERE ${own}`);
  });

  it('leaves nothing behind for a webhook that is deleted while events come', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { webhook } = await registerWebhook(servers[0], receiver.url('/leaving'), 'license.renewed');
      await Promise.all([renew(servers, 20), servers[round % 2]?.admin.deleteWebhook({ id: webhook.id })]);
    }
    await allDelivered();
  });

  it('does not make the servers wait for each other in a circle', async () => {
    const [stats] = await select('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
    expect(stats).toEqual({ deadlocks: 0 });
  });

  it('continues for a killed server as soon as its leases end', async () => {
    await servers[0].kill();
    servers = [await serve(SHORT_TIMEOUT_SECONDS), servers[1]];
    const before = receiver.to('/a').length;
    const path = '/held';
    await registerPath(servers[0], receiver, path, 'license.renewed');
    await receiver.configure(path, { answers: [{ status: 200, hold: true }] });
    // The first server claims these alone, and waits for their answers.
    const { license } = await servers[0].admin.createLicense({ holder: 'Sám' });
    process.kill(servers[1].pid, 'SIGSTOP');
    const ref = license.license_key;
    for (let count = 0; count < 5; count += 1) await servers[0].admin.renewLicense({ ref, days: 1 });
    const underWay = await receiver.received(path, 2);
    process.kill(servers[1].pid, 'SIGCONT');
    const changing = renew(servers, 200).catch(() => undefined);
    await receiver.received('/a', before + 50);
    await servers[0].kill('SIGKILL');
    await changing;
    await receiver.configure(path, { answers: [{ status: 200 }] });
    await receiver.release(path);
    await allDelivered();

    const [{ events }] = await select(`SELECT count(*) AS events FROM events WHERE name = 'license.renewed'`);
    const deliveries = await select('SELECT id, webhook_id FROM deliveries');
    for (const webhook of (await servers[1].admin.listWebhooks({})).webhooks) {
      const name = new URL(webhook.url).pathname;
      const ids = deliveries.filter((row) => row.webhook_id === webhook.id).map(({ id }) => id as number);
      const copies = Map.groupBy(receiver.to(name), ({ delivery }) => delivery);
      expect(new Set(copies.keys())).toEqual(new Set(ids));
      if (name !== path) expect(ids).toHaveLength(events as number);
      expect(receiver.to(name).every(verifies)).toBe(true);
      for (const same of copies.values()) {
        expect(new Set(same.map(({ sha256, message }) => `${sha256} ${message}`)).size).toBe(1);
      }
    }
    for (const { delivery } of underWay) {
      expect(receiver.to(path).filter((request) => request.delivery === delivery).length).toBeGreaterThan(1);
    }
  });

  it('takes a server back in without sending anything again', async () => {
    const counts = () => PATHS.map((path) => receiver.to(path).length);
    const before = counts();
    servers = [await serve(), servers[1]];
    await renew(servers, 50);
    await allDelivered();
    expect(counts()).toEqual(before.map((count) => count + 50));
  });
});
