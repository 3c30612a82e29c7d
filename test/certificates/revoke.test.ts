// POST /certs/revoke/: once, for good, told of once, and on the list when it is answered.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { REVOCATION_REASONS } from '#server/features/certificates/certificate-state-contract.ts';
import { publicContract } from '#server/contract.ts';
import { callRow, newBearer, newLicense, success } from '../helpers/contract-calls.ts';
import { dumpDatabase, selectRows, writeRows } from '../helpers/database.ts';
import { deliveriesOf, eventsOf, plantWebhook } from '../helpers/outbox.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { type Issued, issue } from './issuing.ts';

const DAY_MS = 86_400_000;
const START = Math.floor(Date.now() / 1000) * 1000;
const clock = createTestClock(START);
let server: TestServer;
let bearer: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer({ clock });
  bearer = await newBearer(server, 'integrator');
});
afterAll(() => server.stop());
beforeEach(() => clock.set(START));

const at = (ms: number) => new Date(ms).toISOString();
const call = (input: Record<string, unknown>, headers = bearer) =>
  callRow(server, publicContract.revokeCertificate, input, headers);
const revoke = async (input: Record<string, unknown>) =>
  (await success(server, 'revokeCertificate', input, bearer)).certificate as Issued['certificate'];

interface Listed {
  serial_number: string;
  revoked_at: string;
  reason: string;
}
async function listed(): Promise<Listed[]> {
  return (await success(server, 'revocationList', {})).revoked as Listed[];
}

describe('a revocation', () => {
  it('shows in the certificate, and on the list that is served from then on', async () => {
    const { certificate } = await issue(server);
    clock.advance(1234);
    const revoked = await revoke({ serial_number: certificate.serial_number, reason: 'superseded' });
    const moment = at(START + 1234);
    expect(revoked).toEqual({ ...certificate, status: 'revoked', revoked_at: moment, reason: 'superseded' });
    expect(await listed()).toContainEqual({
      serial_number: certificate.serial_number,
      revoked_at: moment,
      reason: 'superseded',
    });
  });

  it('takes the serial number in every spelling, and the id', async () => {
    const spellings: ((serial: string) => string)[] = [
      (serial) => serial.toUpperCase(),
      (serial) => serial.toUpperCase().match(/../gu)!.join(':'),
      (serial) => serial.match(/../gu)!.join(' '),
      (serial) => `0x${serial}`,
      (serial) => `0X00${serial.toUpperCase()}`,
      (serial) => `\t${serial}\n`,
    ];
    for (const spell of spellings) {
      const { certificate } = await issue(server);
      const { serial_number, id } = certificate;
      expect(await revoke({ serial_number: spell(serial_number) })).toMatchObject({ id, status: 'revoked' });
    }
    const { certificate } = await issue(server);
    const { serial_number, id } = certificate;
    expect(await revoke({ id })).toMatchObject({ serial_number, reason: 'unspecified' });
    expect(await revoke({ id, serial_number })).toMatchObject({ serial_number });
  });

  it.each(REVOCATION_REASONS)('may be for the reason %s', async (reason) => {
    const { certificate } = await issue(server);
    expect(await revoke({ id: certificate.id, reason })).toMatchObject({ reason });
    expect(await listed()).toContainEqual({
      serial_number: certificate.serial_number,
      revoked_at: at(START),
      reason,
    });
  });

  it('again keeps the first time and reason, and sends no second event', async () => {
    const license = await newLicense(server);
    const { certificate } = await issue(server, { license_id: license.license_id });
    const { id, serial_number } = certificate;
    const first = await revoke({ id, reason: 'key_compromise' });
    clock.advance(DAY_MS);
    expect(await revoke({ serial_number, reason: 'superseded' })).toEqual(first);
    const events = await eventsOf(server.dataDir, license.license_id);
    expect(events.map(({ name }) => name)).toEqual(['certificate.generated', 'certificate.revoked']);
    const { items } = await server.admin.listAudit({ subject: `certificate:${id}` });
    expect(items.map(({ action }) => action)).toEqual(['certificate.revoked', 'certificate.generated']);
    const entries = await selectRows(
      server.dataDir,
      `SELECT * FROM revocation_entries WHERE certificate_id = ${id}`,
    );
    expect(entries).toHaveLength(1);
  });

  it('is possible of a certificate whose license was revoked or that has expired, and is listed then too', async () => {
    const license = await newLicense(server);
    const { certificate } = await issue(server, { license_id: license.license_id, validity_days: 1 });
    await server.admin.revokeLicense({ ref: license.license_key });
    clock.advance(2 * DAY_MS);
    const { serial_number } = certificate;
    expect(await revoke({ serial_number })).toMatchObject({ status: 'revoked' });
    expect((await listed()).map((entry) => entry.serial_number)).toContain(serial_number);
  });
});

describe('not found is', () => {
  it('an unknown certificate', async () => {
    for (const input of [{ id: 999_999 }, { serial_number: 'abcdef' }, { serial_number: 'f'.repeat(32) }])
      expectFailure(await call(input), 'certificate_not_found');
  });

  it('one of which id and serial number disagree, and neither is revoked', async () => {
    const [one, other] = [(await issue(server)).certificate, (await issue(server)).certificate];
    const disagreeing = { id: one.id, serial_number: other.serial_number };
    expectFailure(await call(disagreeing), 'certificate_not_found');
    for (const { id } of [one, other])
      expect((await server.admin.showCertificate({ id })).certificate.status).toBe('good');
  });

  it('the authority', async () => {
    const { authority } = await server.admin.showAuthority({});
    expectFailure(await call({ serial_number: authority.serial_number }), 'certificate_not_found');
    expect((await listed()).map(({ serial_number }) => serial_number)).not.toContain(authority.serial_number);
  });
});

describe('refused is', () => {
  it.each<[Record<string, unknown>, string]>([
    [{}, 'serial_number'],
    [{ reason: 'superseded' }, 'serial_number'],
    [{ serial_number: '' }, 'serial_number'],
    [{ serial_number: 'xyz' }, 'serial_number'],
    [{ serial_number: 5 }, 'serial_number'],
    [{ id: '1' }, 'id'],
    [{ id: 0 }, 'id'],
    [{ id: 1.5 }, 'id'],
    [{ id: 1, reason: 'keyCompromise' }, 'reason'],
    [{ id: 1, reason: 'certificate_hold' }, 'reason'],
    [{ id: 1, reason: null }, 'reason'],
  ])('%j', async (input, path) => {
    const reply = await call(input);
    expectFailure(reply, 'invalid_request');
    expect(reply.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
  });

  it('a caller without a token', async () => {
    const { certificate } = await issue(server);
    expectFailure(await call({ id: certificate.id }, {}), 'unauthorized');
    expect((await server.admin.showCertificate({ id: certificate.id })).certificate.status).toBe('good');
  });
});

describe('what is left of it', () => {
  it('is one event with the reason, to the webhooks in whose scope it is', async () => {
    const hook = await plantWebhook(server.dataDir, 'certificate.revoked');
    const license = await newLicense(server);
    const { license_id } = license;
    const { certificate } = await issue(server, { license_id });
    await revoke({ id: certificate.id, reason: 'privilege_withdrawn' });
    const { serial_number, subject, not_before, not_after, fingerprint_sha256 } = certificate;
    expect((await eventsOf(server.dataDir, license_id)).at(-1)?.body).toEqual({
      event: 'certificate.revoked',
      timestamp: at(START),
      license_id,
      license_key: license.license_key,
      holder: license.holder,
      product: license.product,
      plan: license.plan,
      machine_fingerprint: null,
      issued_at: license.issued_at,
      expires_at: license.expires_at,
      certificate: { serial_number, subject, not_before, not_after, fingerprint_sha256 },
      reason: 'privilege_withdrawn',
    });
    const deliveries = (await deliveriesOf(server.dataDir)).filter(({ webhook }) => webhook === hook);
    expect(deliveries).toMatchObject([{ event: 'certificate.revoked' }]);
  });

  it('is one audit entry with the states before and after', async () => {
    const { certificate } = await issue(server);
    const { pem: _pem, ...before } = certificate;
    await revoke({ id: certificate.id, reason: 'affiliation_changed' });
    const { items } = await server.admin.listAudit({ subject: `certificate:${certificate.id}` });
    const changes = { status: 'revoked', revoked_at: at(START), reason: 'affiliation_changed' };
    expect(items[0]).toMatchObject({
      action: 'certificate.revoked',
      actor_kind: 'api_token',
      before,
      after: { ...before, ...changes },
    });
    expect(JSON.stringify(items)).not.toContain('BEGIN CERTIFICATE');
  });

  it.each(['audit_entries', 'deliveries', 'events', 'revocation_entries'])(
    'is nothing if %s cannot be written',
    async (table) => {
      await plantWebhook(server.dataDir, 'certificate.revoked');
      const { certificate } = await issue(server);
      const { id } = certificate;
      await writeRows(
        server.dataDir,
        `CREATE TRIGGER obstacle BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'an obstacle'); END`,
      );
      const before = await dumpDatabase(server.dataDir);
      expectFailure(await call({ id }), 'internal_error');
      expect(await dumpDatabase(server.dataDir)).toBe(before);
      expect((await server.admin.showCertificate({ id })).certificate).toEqual(certificate);
      await writeRows(server.dataDir, 'DROP TRIGGER obstacle');
      expect(await revoke({ id })).toMatchObject({ status: 'revoked' });
    },
  );
});
