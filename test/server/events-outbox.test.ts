import { beforeAll, describe, expect, it } from 'vitest';
import { activateDevice, newBearer, newFingerprint, newLicense, success } from '../helpers/contract-calls.ts';
import { dumpDatabase, writeRows } from '../helpers/database.ts';
import { deliveriesOf, eventsOf, plantWebhook } from '../helpers/outbox.ts';
import { runScan } from '../helpers/scan.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2035, 0, 1);
const clock = sharedClock(START);
const server = sharedServer({ clock });
let bearer: Record<string, string>;

beforeAll(async () => {
  bearer = await newBearer(server);
});

const at = (ms: number) => new Date(ms).toISOString();
type License = Awaited<ReturnType<typeof newLicense>>;

const coreOf = (license: License, changes: object = {}) => ({
  license_id: license.license_id,
  license_key: license.license_key,
  holder: license.holder,
  product: license.product,
  plan: license.plan,
  machine_fingerprint: null,
  issued_at: license.issued_at,
  expires_at: license.expires_at,
  ...changes,
});

async function bodiesOf(license: License): Promise<unknown[]> {
  return (await eventsOf(server.dataDir, license.license_id)).map(({ body }) => body as unknown);
}

describe('the event of', () => {
  it('an activation is about the device that was activated', async () => {
    const license = await newLicense(server, { plan: 'professional', holder: 'Žofie "Ω" <株>' });
    clock.advance(1234);
    const first = await activateDevice(server, license);
    const second = await activateDevice(server, license);
    const event = ({ activation }: typeof first) => ({
      event: 'license.activated',
      timestamp: at(START + 1234),
      ...coreOf(license, { machine_fingerprint: activation.machine_fingerprint }),
    });
    expect(await bodiesOf(license)).toEqual([event(first), event(second)]);
  });

  it('a renewal says when the license would have ended', async () => {
    const license = await newLicense(server);
    const { activation } = await activateDevice(server, license);
    await success(server, 'renew', { license_id: license.license_id, days: 1 }, bearer);
    expect((await bodiesOf(license)).at(-1)).toEqual({
      event: 'license.renewed',
      timestamp: at(START),
      ...coreOf(license, {
        machine_fingerprint: activation.machine_fingerprint,
        expires_at: at(START + 366 * DAY_MS),
      }),
      previous_expires_at: license.expires_at,
    });
  });

  it('an upgrade says which plan it was', async () => {
    const license = await newLicense(server);
    await success(server, 'upgrade', { license_id: license.license_id, plan: 'enterprise' }, bearer);
    const core = coreOf(license, { plan: 'enterprise' });
    expect(await bodiesOf(license)).toEqual([
      { event: 'license.upgraded', timestamp: at(START), ...core, previous_plan: 'standard' },
    ]);
  });

  it.each(['fraud – žaloba', undefined])('a revocation says why: %s', async (reason) => {
    const license = await newLicense(server);
    const ref = license.license_key;
    await server.admin.revokeLicense({ ref, ...(reason === undefined ? {} : { reason }) });
    await server.admin.revokeLicense({ ref, reason: 'again' });
    expect(await bodiesOf(license)).toEqual([
      { event: 'license.revoked', timestamp: at(START), ...coreOf(license), reason: reason ?? null },
    ]);
  });
});

describe('no event', () => {
  it('results from a change that is not sent to webhooks', async () => {
    const license = await newLicense(server);
    const ref = license.license_key;
    const issued = await server.admin.issueToken({ license: ref });
    await server.admin.revokeToken({ id: issued.authorization_token.id });
    await server.post('/authorize/', { license_key: ref });
    await server.admin.showLicense({ ref });
    expect(await bodiesOf(license)).toEqual([]);
  });

  it('comes of a change that is refused', async () => {
    const license = await newLicense(server);
    const { license_id, license_key } = license;
    await activateDevice(server, license);
    const [before] = [await dumpDatabase(server.dataDir)];
    const machine_fingerprint = newFingerprint();
    expectFailure(
      await server.post('/activate/', { license_key, machine_fingerprint }),
      'activation_limit_reached',
    );
    expectFailure(await server.post('/upgrade/', { license_id, plan: 'trial' }, bearer), 'not_an_upgrade');
    expectFailure(await server.post('/renew/', { license_id, days: 0 }, bearer), 'invalid_request');
    expect(await dumpDatabase(server.dataDir)).toBe(before);
  });
});

/** One of each license event, as a client would cause it. */
async function causeEverything(own: TestServer): Promise<void> {
  const headers = await newBearer(own);
  const license = await newLicense(own);
  const { license_id } = license;
  await activateDevice(own, license);
  await own.post('/renew/', { license_id, days: 1 }, headers);
  await own.post('/upgrade/', { license_id, plan: 'professional' }, headers);
  const { license: now } = await own.admin.showLicense({ ref: license.license_key });
  for (const moment of [now.expires_at, now.expires_at, now.grace_ends_at].map((text) => Date.parse(text))) {
    clock.set(clock.now() < moment - 1 ? moment - 1 : moment);
    await runScan(own.dataDir, clock);
  }
  clock.set(Date.parse(now.grace_ends_at));
  await runScan(own.dataDir, clock);
  await own.admin.revokeLicense({ ref: license.license_key });
}

const LICENSE_EVENTS = [
  'license.activated',
  'license.renewed',
  'license.upgraded',
  'license.expiring',
  'license.in_grace',
  'license.expired',
  'license.revoked',
];

describe('the deliveries', () => {
  it('are one for each event and each webhook whose scope covers it, due at once', async () => {
    const own = await startTestServer({ clock });
    const everything = await plantWebhook(own.dataDir, 'all');
    const renewals = await plantWebhook(own.dataDir, 'license.renewed');
    const certificates = await plantWebhook(own.dataDir, 'certificate.generated');
    const deleted = await plantWebhook(own.dataDir, 'all', START);
    const lookalike = await plantWebhook(own.dataDir, 'license');
    // The dispatcher, which begins with the first of them, leaves them as they were written.
    await writeRows(
      own.dataDir,
      `CREATE TRIGGER obstacle BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'an obstacle'); END`,
    );
    await causeEverything(own);

    const events = await eventsOf(own.dataDir);
    expect(events.map(({ name }) => name)).toEqual(LICENSE_EVENTS);
    const deliveries = await deliveriesOf(own.dataDir);
    const toWebhook = (id: number) => deliveries.filter(({ webhook }) => webhook === id);
    expect(toWebhook(everything).map(({ event }) => event)).toEqual(LICENSE_EVENTS);
    expect(toWebhook(renewals).map(({ event }) => event)).toEqual(['license.renewed']);
    for (const id of [certificates, deleted, lookalike]) expect(toWebhook(id)).toEqual([]);
    for (const { status, attempts } of deliveries) expect([status, attempts]).toEqual(['pending', 0]);
    const due = toWebhook(everything).map((delivery) => delivery.due);
    expect(due).toEqual(events.map(({ body }) => Date.parse(body.timestamp as string)));
    await own.stop();
  });
});

describe('a change that fails halfway', () => {
  /** What the change writes last is made impossible, so everything before it has to go. */
  const obstacles: [string, string][] = [
    ['its audit row cannot be written', 'audit_entries'],
    ['its deliveries cannot be written', 'deliveries'],
    ['its event cannot be written', 'events'],
    ['its first reply cannot be kept', 'idempotent_replies'],
  ];
  it.each(obstacles)('leaves nothing behind: %s', async (_name, table) => {
    await plantWebhook(server.dataDir, 'all');
    const license = await newLicense(server);
    const { license_id, license_key } = license;
    await writeRows(
      server.dataDir,
      `CREATE TRIGGER obstacle BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'an obstacle'); END`,
    );
    const before = await dumpDatabase(server.dataDir);
    const headers = { ...bearer, 'idempotency-key': `halfway-${table}` };
    const attempts = [
      () => server.post('/renew/', { license_id }, headers),
      () => server.post('/upgrade/', { license_id, plan: 'enterprise' }, headers),
      ...(table === 'idempotent_replies'
        ? []
        : [() => server.post('/activate/', { license_key, machine_fingerprint: newFingerprint() })]),
    ];
    for (const attempt of attempts) {
      const reply = await attempt();
      expectFailure(reply, 'internal_error');
      expect(await dumpDatabase(server.dataDir)).toBe(before);
    }
    const { body } = await server.post('/authorize/', { license_key });
    expect(body).toMatchObject({
      authorized: true,
      plan: 'standard',
      state: 'issued',
      expires_at: license.expires_at,
    });

    await writeRows(server.dataDir, 'DROP TRIGGER obstacle');
    for (const attempt of attempts) expect((await attempt()).status).toBe(200);
    expect((await eventsOf(server.dataDir, license_id)).map(({ name }) => name)).toEqual(
      ['license.renewed', 'license.upgraded', 'license.activated'].slice(0, attempts.length),
    );
  });

  it('leaves nothing behind in the scan, which makes up for it', async () => {
    const { license_id } = await newLicense(server, { days: 2 });
    await writeRows(
      server.dataDir,
      `CREATE TRIGGER obstacle BEFORE INSERT ON deliveries BEGIN SELECT RAISE(ABORT, 'an obstacle'); END`,
    );
    await plantWebhook(server.dataDir, 'all');
    await expect(runScan(server.dataDir, clock)).rejects.toThrow();
    expect(await eventsOf(server.dataDir, license_id)).toEqual([]);
    await writeRows(server.dataDir, 'DROP TRIGGER obstacle');
    await runScan(server.dataDir, clock);
    expect((await eventsOf(server.dataDir, license_id)).map(({ name }) => name)).toEqual([
      'license.expiring',
    ]);
  });
});
