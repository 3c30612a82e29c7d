// A server that is cut off from PostgreSQL in the middle of a transaction: the other servers go on.
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { newFloatingLicense, newLicense } from '../helpers/contract-calls.ts';
import { eventually } from '../helpers/eventually.ts';
import { heartbeat, lease, makeDue, seatsOf } from '../helpers/leases.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { startTcpRelay, type TcpRelay } from '../helpers/tcp-relay.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`while a server is cut off from PostgreSQL${why}`, () => {
  const masterKey = Buffer.alloc(32, 7).toString('base64');
  let url: string;
  let relay: TcpRelay;
  let cutOff: TestServer;

  beforeEach(async () => {
    url = await newMigratedPostgresDatabase();
    // PostgreSQL would otherwise end the session that is cut off after 20 s.
    const relayed = new URL(`${url}?idle_in_transaction_session_timeout=0`);
    relay = await startTcpRelay(Number(relayed.port));
    relayed.port = String(relay.port);
    cutOff = await startTestServer({ flags: { 'database-url': relayed.href }, masterKey });
  });
  afterEach(async () => {
    await cutOff.stop();
    await relay.close();
  });

  /** Repeats `act` until the statement of it has come to the relay, and never reaches PostgreSQL. */
  async function cutOffAt(statement: RegExp, act: () => Promise<unknown>): Promise<void> {
    let isCutOff = false;
    void relay
      .holdBack((sent) => statement.test(sent.toString('latin1')))
      .then(() => {
        isCutOff = true;
      });
    await eventually(async () => {
      await act();
      expect(isCutOff).toBe(true);
    });
  }

  async function startOther(): Promise<TestServer> {
    const other = await startTestServer({ flags: { 'database-url': url }, masterKey });
    onTestFinished(() => other.stop());
    return other;
  }

  it('the others are ready', async () => {
    await cutOffAt(/DELETE FROM service_marks/u, () => cutOff.get('/health/ready/'));
    expect(await (await startOther()).get('/health/ready/')).toMatchObject({ status: 200 });
  });

  it('the others grant leases', async () => {
    const license = await newFloatingLicense(cutOff);
    const { lease_token } = await lease(cutOff, license);
    await cutOffAt(/UPDATE leases SET due_at = \$\d+, lease_seconds/u, () => heartbeat(cutOff, lease_token));
    await lease(await startOther(), license);
  });
});

it.skipIf(!hasPostgres)(`leases end although a connection to PostgreSQL does not answer${why}`, async () => {
  const database = await newMigratedPostgresDatabase();
  const url = new URL(database);
  const relay = await startTcpRelay(Number(url.port));
  onTestFinished(() => relay.close());
  url.port = String(relay.port);
  const isSilent = relay.silence((sent) => /UPDATE lease_clock/u.test(sent.toString('latin1')));
  const server = await startTestServer({ flags: { 'database-url': url.href } });
  onTestFinished(() => server.stop());
  await isSilent;
  const license = await newFloatingLicense(server);
  await lease(server, license);
  await makeDue(database, license.license_id);
  await eventually(async () =>
    expect(await seatsOf(database, license.license_id)).toMatchObject({ counted: { in_use: 0 } }),
  );
});

describe.skipIf(!hasPostgres)(`a read whose connection to PostgreSQL is lost${why}`, () => {
  async function renew(server: TestServer): Promise<void> {
    const { license_key } = await newLicense(server);
    const { api_token } = await server.admin.createApiToken({ name: 'integrator', role: 'integrator' });
    const headers = { authorization: `Bearer ${api_token}`, 'idempotency-key': 'one' };
    expect((await server.post('/renew/', { license_key, days: 1 }, headers)).status).toBe(200);
  }

  it.each<[string, (server: TestServer) => Promise<unknown>]>([
    ['plans', ({ admin }) => admin.listPlans({})],
    ['webhooks', ({ admin }) => admin.listWebhooks({})],
    ['api_tokens', ({ admin }) => admin.listApiTokens({})],
    ['idempotent_replies', renew],
  ])('of %s is repeated', async (table, read) => {
    const url = new URL(await newMigratedPostgresDatabase());
    const relay = await startTcpRelay(Number(url.port));
    onTestFinished(() => relay.close());
    url.port = String(relay.port);
    const server = await startTestServer({ flags: { 'database-url': url.href } });
    onTestFinished(() => server.stop());
    let isLost = false;
    relay.loseAnswerTo((sent) => {
      isLost = new RegExp(`FROM "?${table}\\b`, 'u').test(sent.toString('latin1'));
      return isLost;
    });
    await read(server);
    expect(isLost).toBe(true);
  });
});
