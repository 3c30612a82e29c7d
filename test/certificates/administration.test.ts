// What the back office sees of certificates: lists, single ones, counts; and who may do what.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  adminSuccess,
  callAdmin,
  newBearer,
  newLicense,
  success,
  unique,
} from '../helpers/contract-calls.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { issue, issueWithKey, REQUEST } from './issuing.ts';

const DAY_MS = 86_400_000;
const UNKNOWN_KEY = '01234-56789-ABCDE-FGHJK-MTS3K';
const START = Math.floor(Date.now() / 1000) * 1000;
const clock = createTestClock(START);
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());
beforeEach(() => clock.set(START));

const idsOf = ({ items }: { items: { id: number }[] }) => items.map(({ id }) => id);

it('counts by state and by the clock', async () => {
  const counts = async () => (await adminSuccess(server, 'stats', {})).certificates as object;
  expect(await counts()).toEqual({ valid: 0, revoked: 0, expired: 0 });
  const { license_id } = await newLicense(server);
  await issue(server, { license_id, validity_days: 1 });
  await issue(server, { license_id, validity_days: 3 });
  const { certificate } = await issue(server, { license_id, validity_days: 1 });
  expect(await counts()).toEqual({ valid: 3, revoked: 0, expired: 0 });
  await server.admin.revokeCertificate({ id: certificate.id });
  expect(await counts()).toEqual({ valid: 2, revoked: 1, expired: 0 });
  clock.advance(2 * DAY_MS);
  expect(await counts()).toEqual({ valid: 1, revoked: 1, expired: 1 });
});

describe('the list', () => {
  it('comes in pages, newest first, and is cut down to a license, by its id or key', async () => {
    const [license, other] = [await newLicense(server), await newLicense(server)];
    const made: number[] = [];
    for (let time = 0; time < 3; time += 1) {
      await issue(server, { license_id: other.license_id });
      made.unshift((await issue(server, { license_id: license.license_id })).certificate.id);
    }
    for (const ref of [String(license.license_id), license.license_key]) {
      const first = await adminSuccess(server, 'listCertificates', { license: ref, limit: 2 });
      const more = { license: ref, limit: 2, cursor: first.next_cursor };
      const second = await adminSuccess(server, 'listCertificates', more);
      expect([...idsOf(first), ...idsOf(second)]).toEqual(made);
      expect(second.next_cursor).toBeNull();
    }
  });

  it('is cut down to a state, by the clock', async () => {
    const { license_id } = await newLicense(server);
    const [short, long, revoked] = [
      await issue(server, { license_id, validity_days: 1 }),
      await issue(server, { license_id }),
      await issue(server, { license_id }),
    ].map(({ certificate }) => certificate.id);
    await server.admin.revokeCertificate({ id: revoked! });
    const inState = async (status: string) =>
      idsOf(await adminSuccess(server, 'listCertificates', { license: license_id, status }));
    expect(await inState('good')).toEqual([long, short]);
    expect(await inState('revoked')).toEqual([revoked]);
    expect(await inState('expired')).toEqual([]);
    clock.advance(2 * DAY_MS);
    expect(await inState('good')).toEqual([long]);
    expect(await inState('expired')).toEqual([short]);
    clock.set(START - DAY_MS);
    expect(await inState('not_yet_valid')).toEqual([long, short]);
    expect(await inState('good')).toEqual([]);
  });

  it('says what is wrong', async () => {
    expectFailure(await callAdmin(server, 'listCertificates', { license: UNKNOWN_KEY }), 'license_not_found');
    for (const input of [{ limit: 0 }, { cursor: 'x' }, { license: 'typo' }, { status: 'valid' }])
      expectFailure(await callAdmin(server, 'listCertificates', input), 'invalid_request');
  });
});

describe('a single one', () => {
  it('is shown as it was issued, without any key', async () => {
    const { certificate, download_token } = await issueWithKey(server);
    const shown = await adminSuccess(server, 'showCertificate', { id: certificate.id });
    expect(shown).toEqual({ ok: true, certificate });
    expect(JSON.stringify(shown)).not.toContain(download_token.slice(4, 20));
    expectFailure(await callAdmin(server, 'showCertificate', { id: 999_999 }), 'certificate_not_found');
    for (const id of ['x', 0, -1])
      expectFailure(await callAdmin(server, 'showCertificate', { id }), 'invalid_request');
  });
});

describe('the authority', () => {
  it('is shown, renewed, and brought along by administrators only', async () => {
    const { authority } = await adminSuccess(server, 'showAuthority');
    const { authority: renewed } = await adminSuccess(server, 'renewAuthority');
    expect(renewed.subject).toBe(authority.subject);
    expect(renewed.serial_number).not.toBe(authority.serial_number);
    const garbage = { certificate: 'x', private_key: 'y' };
    expectFailure(await callAdmin(server, 'importAuthority', garbage), 'invalid_request');
    const headers = await newBearer(server);
    const names = ['showAuthority', 'renewAuthority', 'importAuthority', 'listCertificates'] as const;
    for (const name of names) expectFailure(await callAdmin(server, name, garbage, headers), 'unauthorized');
  });
});

describe.each(['admin', 'integrator'] as const)('an API token of the role %s', (role) => {
  it('issues and revokes', async () => {
    const headers = await newBearer(server, role);
    const { license_id } = await newLicense(server);
    const order = { license_id, common_name: unique('client'), csr: REQUEST.csr };
    const { certificate } = await success(server, 'generateCertificate', order, headers);
    const { serial_number } = certificate as { serial_number: string };
    const reply = await success(server, 'revokeCertificate', { serial_number }, headers);
    expect(reply.certificate).toMatchObject({ serial_number, status: 'revoked' });
  });
});

describe('calls for administrators', () => {
  it('is not on the API listener', async () => {
    const headers = await newBearer(server);
    for (const path of ['/certs/', '/certs/show/?id=1', '/certs/authority/'])
      expectFailure(await server.get(path, headers), 'not_found');
    for (const path of ['/certs/authority/renew/', '/certs/authority/import/'])
      expectFailure(await server.post(path, {}, headers), 'not_found');
  });
});
