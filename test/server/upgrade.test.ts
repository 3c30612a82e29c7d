// A database of an earlier version is upgraded with all that is in it, and everything in it works as before. `npm test`
// upgrades from a few versions, `npm run test:long` from all.
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MIGRATIONS } from '#server/database/migrate.ts';
import { newLicense, SIGNING_REQUEST, success } from '../helpers/contract-calls.ts';
import { firstOrAll } from '../helpers/long-lane.ts';
import { readTables, writeOldDatabase } from '../helpers/old-database.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newPostgresDatabase } from '../helpers/postgres-database.ts';
import { fingerprintOf, newDataDir, startTestServer, type TestServer } from '../helpers/test-server.ts';
import { lookUntil } from '../webhooks/partner.ts';

const masterKey = Buffer.alloc(32, 9).toString('base64');
const DEVICE = fingerprintOf(0xcafe);
const WITH_CERTIFICATES = '0002-certificates';
const WITH_ORDER_NUMBERS = '0010-license-details';
const WITH_CUSTOM_FIELDS = '0017-custom-fields';
const WITH_DEVICE_HISTORY = '0018-device-history';
const NAMES = MIGRATIONS.map(({ name }) => name);
/** With and without each of these; the last one meets only the newest migration, with all data. */
const DIFFERENT = [...NAMES.slice(0, 1), WITH_CUSTOM_FIELDS, ...NAMES.slice(-2, -1)];
const VERSIONS = firstOrAll(DIFFERENT.length, [...new Set([...DIFFERENT, ...NAMES])]);
const ORDER_NUMBER = 'SO-2026-Ö17';
/** As a search looks for it. Before 0031, it found no order numbers. */
const FOLDED_ORDER_NUMBER = 'so-2026-o17';

/** No attempt of the present server comes between; the first one has failed before. */
const flags = { 'webhook-backoff-seconds': '3600' };

/** What a customer has after a while: a device, tokens, certificates, and a webhook that does not answer. */
async function useForAWhile(server: TestServer) {
  const { admin } = server;
  const { webhook } = await admin.registerWebhook({ url: 'https://127.0.0.1:1/hook', scope: 'all' });
  const license = await newLicense(server, {
    holder: 'Nováček s.r.o.',
    plan: 'professional',
    order_number: ORDER_NUMBER,
    custom_fields: { 'Cost center': '4711' },
  });
  const { license_key, license_id } = license;
  const activated = await success(server, 'activate', { license_key, machine_fingerprint: DEVICE });
  const { token } = await admin.issueToken({ license: license_key });
  const { api_token } = await admin.createApiToken({ name: 'shop', role: 'admin' });
  const { certificate } = await admin.generateCertificate({ license_id, common_name: 'kept' });
  const { certificate: revoked } = await admin.generateCertificate({ license_id, common_name: 'revoked' });
  await admin.revokeCertificate({ id: revoked.id, reason: 'key_compromise' });
  await lookUntil(async () => {
    const { items } = await admin.listDeliveries({ webhook_id: webhook.id });
    return items.length > 0 && items.every(({ attempts }) => attempts === 1) ? items : undefined;
  });
  return {
    license,
    licenseFile: activated.license_file as string,
    token,
    bearer: { authorization: `Bearer ${api_token}` },
    certificate,
    revoked,
    webhook,
  };
}

type Used = Awaited<ReturnType<typeof useForAWhile>>;

/** All that was written, as the back office shows it. */
async function everythingIn({ admin }: TestServer, { license, webhook }: Used) {
  const ref = license.license_key;
  const { items: deliveries } = await admin.listDeliveries({ webhook_id: webhook.id });
  return {
    licenses: (await admin.listLicenses({})).items,
    devices: (await admin.listDevices({ ref })).items,
    plans: (await admin.listPlans({})).items,
    tokens: (await admin.listTokens({ license: ref })).items,
    apiTokens: (await admin.listApiTokens({})).items.map(({ name, role, created_at }) => ({
      name,
      role,
      created_at,
    })),
    webhooks: (await admin.listWebhooks({})).items,
    deliveries: await Promise.all(deliveries.map(({ id }) => admin.showDelivery({ id }))),
    timeline: (await admin.licenseTimeline({ license: ref })).items,
    counts: (await admin.stats({})).licenses,
    audit: (await admin.listAudit({ subject: `license:${license.license_id}` })).items,
  };
}

describe('a database of an earlier version', () => {
  const source = { dataDir: '' };
  let used: Used;
  let written: Awaited<ReturnType<typeof everythingIn>>;
  let tables: Awaited<ReturnType<typeof readTables>>;

  beforeAll(async () => {
    source.dataDir = await newDataDir();
    const server = await startTestServer({ dataDir: source.dataDir, masterKey, flags });
    used = await useForAWhile(server);
    written = await everythingIn(server, used);
    await server.stop();
    tables = await readTables(join(source.dataDir, 'license-desk.db'));
    for (const row of tables.get('licenses') ?? [])
      row['search_text'] = String(row['search_text']).replace(`${FOLDED_ORDER_NUMBER}\n`, '');
  });
  afterAll(async () => {
    await rm(source.dataDir, { recursive: true, force: true });
  });

  /** What was written, without what the version could not keep. */
  function keptBy(version: string) {
    const licenses = written.licenses.map((license) => ({
      ...license,
      order_number: version < WITH_ORDER_NUMBERS ? null : license.order_number,
      custom_fields: version < WITH_CUSTOM_FIELDS ? {} : license.custom_fields,
    }));
    const devices = written.devices.map((device) => ({
      ...device,
      last_seen_at: version < WITH_DEVICE_HISTORY ? null : device.last_seen_at,
    }));
    // Before 0002 there were no certificates, so the timeline cannot name their changes.
    const timeline = written.timeline.filter(
      ({ kind, name }) =>
        version >= WITH_CERTIFICATES || kind === 'event' || !name.startsWith('certificate.'),
    );
    return { ...written, licenses, devices, timeline };
  }

  /** Everything is there, and works. */
  async function expectUse(server: TestServer, version: string): Promise<void> {
    const hadCertificates = version >= WITH_CERTIFICATES;
    const { license, licenseFile, token, bearer, certificate, revoked } = used;
    const { license_key, license_id } = license;
    expect(await everythingIn(server, used)).toEqual(keptBy(version));
    const { items: found } = await server.admin.listLicenses({ search: `novacek ${FOLDED_ORDER_NUMBER}` });
    expect(found).toHaveLength(version < WITH_ORDER_NUMBERS ? 0 : 1);

    expect(await success(server, 'authorizeToken', { token })).toMatchObject({ valid: true });
    expect(await success(server, 'validateOffline', { license_file: licenseFile })).toMatchObject({
      valid: true,
    });
    // The same device: no second seat.
    await success(server, 'activate', { license_key, machine_fingerprint: DEVICE });
    expect((await server.admin.listDevices({ ref: license_key })).items).toHaveLength(1);
    await success(server, 'renew', { license_id }, bearer);

    const validate = (pem: string) => success(server, 'validateCertificate', { certificate: pem });
    if (hadCertificates) {
      expect(await validate(certificate.pem)).toMatchObject({ valid: true, status: 'good' });
      expect(await validate(revoked.pem)).toMatchObject({ valid: false, status: 'revoked' });
      const { items } = await server.admin.listCertificates({ license: license_key });
      expect(items.map(({ id }) => id)).toEqual([revoked.id, certificate.id]);
    }
    const order = { license_id, common_name: 'new', csr: SIGNING_REQUEST };
    const issued = await server.admin.generateCertificate(order);
    expect(await validate(issued.certificate.pem)).toMatchObject({ valid: true });

    const [delivery] = written.deliveries;
    const { secret } = await server.admin.rotateWebhookSecret({ id: used.webhook.id });
    expect(secret).not.toBe('');
    const after = await server.admin.listDeliveries({ webhook_id: used.webhook.id });
    const newest = delivery?.delivery.id ?? 0;
    expect(after.items.filter(({ id }) => id > newest).map(({ event }) => event)).toEqual([
      'certificate.generated',
      'license.renewed',
    ]);
  }

  describe.each(VERSIONS)('%s', (version) => {
    it('is kept on SQLite, and everything in it works', async () => {
      const dataDir = await newDataDir();
      onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
      const file = join(dataDir, 'license-desk.db');
      await writeOldDatabase({ url: null, file }, version, tables);
      await chmod(file, 0o600);
      const server = await startTestServer({ dataDir, masterKey, flags });
      try {
        await expectUse(server, version);
      } finally {
        await server.stop();
      }
    });

    it.skipIf(!hasPostgres)('is kept on PostgreSQL, and everything in it works', async () => {
      const url = await newPostgresDatabase();
      await writeOldDatabase({ url, file: '' }, version, tables);
      const server = await startTestServer({ masterKey, flags: { ...flags, 'database-url': url } });
      try {
        await expectUse(server, version);
      } finally {
        await server.stop();
      }
    });
  });
});
