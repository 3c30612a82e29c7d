// The same service over PostgreSQL, with two servers on one database: nothing may rely on being the only process.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { systemClock } from '#server/platform/clock.ts';
import { decided } from '../helpers/at-once.ts';
import { databaseAt, selectRows, writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { deliveriesOf, eventsOf, plantWebhook } from '../helpers/outbox.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import {
  countLockWaiters,
  lastingTransaction,
  newPostgresDatabase,
  PATIENT,
} from '../helpers/postgres-database.ts';
import { runScan } from '../helpers/scan.ts';
import { listening } from '../helpers/live-client.ts';
import { fingerprintOf, startTestServer, type TestServer } from '../helpers/test-server.ts';

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`two servers on one PostgreSQL database${why}`, () => {
  let servers: [TestServer, TestServer];
  let database: string;

  beforeAll(async () => {
    const masterKey = Buffer.alloc(32, 7).toString('base64');
    database = (await newPostgresDatabase()) + PATIENT;
    const flags = { 'database-url': database };
    // Started together: one of them migrates, the other waits for it.
    servers = await Promise.all([
      startTestServer({ flags, masterKey }),
      startTestServer({ flags, masterKey }),
    ]);
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });

  const turns = <Result>(count: number, work: (server: TestServer, turn: number) => Promise<Result>) =>
    Promise.all(Array.from({ length: count }, (_, turn) => work(servers[turn % 2] as TestServer, turn)));

  it('signs with one key', async () => {
    const [first, second] = await turns(2, (server) => server.get('/public-key/'));
    expect(first?.body.key_id).toBe(second?.body.key_id);
  });

  it('gives one seat to one of fifty devices', async () => {
    const { license } = await servers[0].admin.createLicense({ holder: 'Один', plan: 'standard' });
    const replies = await turns(50, (server, turn) =>
      decided(() =>
        server.post('/activate/', {
          license_key: license.license_key,
          machine_fingerprint: fingerprintOf(turn),
        }),
      ),
    );
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1);
    expect(replies.filter((reply) => reply.body.error_code === 'activation_limit_reached')).toHaveLength(49);
  });

  it('leaves one token active of twenty issued at once', async () => {
    const { license } = await servers[0].admin.createLicense({ holder: 'Zwanzig' });
    const issued = await turns(20, (server) => server.admin.issueToken({ license: license.license_key }));
    const answers = await Promise.all(
      issued.map(({ token }) => servers[1].post('/authorize/token/', { token })),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
  });

  it('renews once for one Idempotency-Key', async () => {
    const { license } = await servers[0].admin.createLicense({ holder: 'Vingt' });
    const { api_token } = await servers[0].admin.createApiToken({ name: 'integrator', role: 'integrator' });
    const headers = { authorization: `Bearer ${api_token}`, 'idempotency-key': 'one' };
    const body = { license_key: license.license_key, days: 10 };
    const replies = await turns(20, (server) => decided(() => server.post('/renew/', body, headers)));
    expect(new Set(replies.map((reply) => JSON.stringify(reply.body)))).toHaveLength(1);
    const { license: renewed } = await servers[1].admin.showLicense({ ref: license.license_key });
    expect(Date.parse(renewed.expires_at) - Date.parse(license.expires_at)).toBe(10 * 86_400_000);
  });

  it('gives one reply for one Idempotency-Key to upgrades that wait for each other', async () => {
    const { license } = await servers[0].admin.createLicense({ holder: 'Twintig', plan: 'standard' });
    const { api_token } = await servers[0].admin.createApiToken({ name: 'upgrader', role: 'integrator' });
    const headers = { authorization: `Bearer ${api_token}`, 'idempotency-key': 'up' };
    const body = { license_key: license.license_key, plan: 'enterprise' };
    const connection = await connect(databaseAt(database));
    const lock = `SELECT 1 FROM licenses WHERE id = ${license.license_id} FOR UPDATE`;
    const holding = await lastingTransaction(connection, lock);
    const upgrading = turns(20, (server) => decided(() => server.post('/upgrade/', body, headers)));
    await eventually(async () => expect(await countLockWaiters(database)).toBeGreaterThan(1));
    await holding.commit();
    await connection.close();
    const replies = await upgrading;
    expect(replies.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
    expect(new Set(replies.map((reply) => JSON.stringify(reply.body)))).toHaveLength(1);
  });

  it('refuses on one server what the other has revoked, from the very next call', async () => {
    const { license } = await servers[0].admin.createLicense({ holder: 'Přes oba' });
    const { token, authorization_token } = await servers[0].admin.issueToken({
      license: license.license_key,
    });
    expect((await servers[1].post('/authorize/token/', { token })).status).toBe(200);
    await servers[0].admin.revokeToken({ id: authorization_token.id });
    expect((await servers[1].post('/authorize/token/', { token })).status).toBe(401);
  });

  it('tells once of each license that ends soon, however many scan', async () => {
    const made: Awaited<ReturnType<TestServer['admin']['createLicense']>>[] = [];
    // More at once could wait for a connection for too long.
    for (let tens = 0; tens < 23; tens += 1) {
      const ten = await turns(10, (server, turn) =>
        server.admin.createLicense({ holder: 'Brzy', days: turn % 2 === 0 ? 3 : 300 }),
      );
      made.push(...ten);
    }
    for (let round = 0; round < 2; round += 1) {
      await Promise.all([runScan(database, systemClock), runScan(database, systemClock)]);
    }
    const told = await selectRows(
      database,
      `SELECT license_id AS id FROM events WHERE name = 'license.expiring' ORDER BY license_id`,
    );
    const ending = made.filter((_, turn) => turn % 2 === 0).map(({ license }) => license.license_id);
    expect(told.map(({ id }) => Number(id))).toEqual(ending.toSorted((a, b) => a - b));
  });

  it('notifies pages of one server of changes on the other', async () => {
    const page = await listening(servers[0]);
    await servers[1].admin.createPlan({ name: 'from-the-other-side' });
    expect(await page.changed('plans')).toContain('audit');
    await page.vanish();
  });

  it('shows one overview, and one audit log by any filter', async () => {
    const [{ recent, ...counts }, { licenses }] = [
      await servers[0].admin.overview({}),
      await servers[1].admin.stats({}),
    ];
    expect(counts.licenses).toEqual({ total: licenses.total, by_state: licenses.by_state });
    expect(recent).toHaveLength(10);
    const { items: all } = await servers[1].admin.listAudit({ limit: 500 });
    const { items } = await servers[1].admin.listAudit({
      action: 'token.',
      actor: 'tester',
      from: new Date(Date.now() - 3_600_000).toISOString(),
      to: new Date(Date.now() + 3_600_000).toISOString(),
      limit: 500,
    });
    expect(items).toEqual(all.filter(({ action }) => action.startsWith('token.')));
    expect(items.length).toBeGreaterThan(20);
    const request_id = items[0]?.request_id?.slice(0, 13);
    expect((await servers[0].admin.listAudit({ request_id })).items).toContainEqual(items[0]);
  });

  it('remembers once that the first steps are over, and loses no setting', async () => {
    await turns(6, ({ admin }) => admin.finishFirstRun({}));
    const { items } = await servers[0].admin.listAudit({ subject: 'first_run' });
    expect(items).toHaveLength(1);
    const names = ['scan_seconds', 'webhook_timeout_seconds', 'webhook_backoff_seconds'];
    await Promise.all(names.map((name) => servers[0].admin.updateSettings({ changes: { [name]: 77 } })));
    const { settings } = await servers[0].admin.showSettings({});
    expect(
      settings
        .filter(({ next_value: next }) => next === '77')
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(names.toSorted());
  });

  it('imports a file completely or not at all, and exports it again', async () => {
    const rows = Array.from({ length: 250 }, (_, row) => `Имя ${row},import`);
    const upload = async (lines: string[]) => {
      const file = new Blob([['who,product', ...lines].join('\n')]);
      const { import_id } = await servers[0].admin.uploadImport({ file });
      return { import_id, mapping: { holder: 'who', product: 'product' } };
    };
    const whole = await upload(rows);
    const both = await Promise.all([
      servers[0].admin.runImport(whole),
      servers[0].admin.runImport(await upload([...rows, 'No Slug,No Slug'])),
    ]);
    expect(both).toMatchObject([
      { state: 'done', done: 250 },
      { state: 'failed', error_count: 1 },
    ]);
    expect(await servers[1].admin.showImport({ import_id: whole.import_id })).toMatchObject({
      state: 'done',
    });
    const { adminOrigin, runtimeSecret } = servers[1];
    const download = await fetch(`${adminOrigin}/admin/api/licenses/export/?product=import`, {
      headers: { authorization: `Bearer ${runtimeSecret}` },
    });
    const [, ...lines] = (await download.text()).trimEnd().split('\r\n');
    expect(lines.map((line) => line.split(',')[1])).toEqual(
      Array.from({ length: 250 }, (_, row) => `Имя ${249 - row}`),
    );
  });

  it('explains what it decides', async () => {
    const { license } = await servers[0].admin.createLicense({ holder: 'Warum' });
    const reply = await servers[1].admin.explainAuthorization({
      license: license.license_key,
      machine_fingerprint: fingerprintOf(1),
    });
    expect(reply).toMatchObject({ authorized: false, reason: 'machine_not_activated' });
    const { license_file } = await servers[0].admin.issueLicenseFile({ license: license.license_key });
    expect(await servers[1].admin.explainLicenseFile({ license_file })).toMatchObject({ valid: true });
  });

  it('lists, searches and counts', async () => {
    const { items } = await servers[1].admin.listLicenses({ state: 'active', search: 'один', limit: 5 });
    expect(items).toMatchObject([{ holder: 'Один', activation_count: 1 }]);
    const stats = await servers[0].admin.stats({});
    expect(stats.activations).toMatchObject({ total: 1, active: 1 });
    expect(stats.tokens.replaced).toBe(19);
  });

  it('distrusts a signing key on every server at once, and signs with the new one', async () => {
    const [one, two] = servers;
    const { license } = await one.admin.createLicense({ holder: 'Dva servery', plan: 'professional' });
    const activate = async (server: TestServer, device: number) =>
      (
        await server.post('/activate/', {
          license_key: license.license_key,
          machine_fingerprint: fingerprintOf(device),
        })
      ).body.license_file as string;
    const under = await activate(two, 1);
    const { key_id: leaked } = await one.admin.publicKey({});
    const [distrusted] = await turns(2, (server) => server.admin.distrustSigningKey({ key_id: leaked }));
    for (const server of servers) {
      const validate = async (license_file: string) =>
        (await server.post('/validate-offline/', { license_file })).body as { reason: string | null };
      expect(await validate(under)).toMatchObject({ valid: false, reason: 'key_distrusted' });
      expect((await server.get('/public-key/')).body).toMatchObject({
        key_id: distrusted?.key_id,
        distrust_list: distrusted?.distrust_list,
      });
      expect(await validate(await activate(server, 2))).toMatchObject({ valid: true });
    }
    const { items } = await two.admin.listFilesToReissue({ key_id: leaked });
    expect(items.at(-1)).toMatchObject({ machine_fingerprint: fingerprintOf(1), recorded: true });
    await Promise.all(servers.map((server) => server.admin.rotateSigningKey({})));
    const keys = await Promise.all(servers.map((server) => server.admin.publicKey({})));
    expect(keys[0]).toEqual(keys[1]);
  });

  it('gives each of twenty licenses its two seats, with one event, delivery and audit entry for each', async () => {
    const webhook = await plantWebhook(database, 'license.activated');
    const { plan } = await servers[0].admin.createPlan({ name: 'two-seats', max_activations: 2 });
    const made = await turns(20, (server, turn) =>
      server.admin.createLicense({ holder: `Dva ${turn}`, plan: plan.name }),
    );
    const devices = made.flatMap(({ license }) => [0, 1, 2, 3].map((number) => ({ license, number })));
    const replies = await turns(devices.length, async (server, turn) => {
      const { license, number } = devices[turn]!;
      const machine_fingerprint = fingerprintOf(number);
      const reply = await server.post('/activate/', {
        license_key: license.license_key,
        machine_fingerprint,
      });
      return { id: license.license_id, machine_fingerprint, ...reply };
    });
    const refused = replies.filter(({ body }) => body.error_code === 'activation_limit_reached');
    expect(refused).toHaveLength(40);
    for (const { license } of made) {
      const { license_id: id } = license;
      const seated = replies.filter((reply) => reply.id === id && reply.status === 200);
      const fingerprints = seated.map(({ machine_fingerprint }) => machine_fingerprint).toSorted();
      const { items } = await servers[1].admin.listDevices({ ref: String(id) });
      expect(items.map((device) => device.machine_fingerprint).toSorted()).toEqual(fingerprints);
      for (const { body, machine_fingerprint } of seated)
        expect(body.activation).toMatchObject({ machine_fingerprint });
      const events = await eventsOf(database, id);
      expect(events.map(({ body }) => body.machine_fingerprint as string).toSorted()).toEqual(fingerprints);
      const audited = await selectRows(
        database,
        `SELECT after_state AS after FROM audit_entries WHERE subject = 'license:${id}' AND action = 'device.activated'`,
      );
      const states = audited.map(
        ({ after }) => (JSON.parse(after) as Record<string, string>)['machine_fingerprint'],
      );
      expect(states.toSorted()).toEqual(fingerprints);
    }
    const queued = (await deliveriesOf(database)).filter((delivery) => Number(delivery.webhook) === webhook);
    expect(queued).toHaveLength(40);
    await writeRows(database, `UPDATE webhooks SET deleted_at = 0 WHERE id = ${webhook}`);
  });
});
