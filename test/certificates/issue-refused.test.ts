// POST /certs/generate/: what is refused, and changes nothing.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { publicContract } from '#server/contract.ts';
import { callRow, newBearer, newLicense } from '../helpers/contract-calls.ts';
import { dumpDatabase } from '../helpers/database.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { issue, REQUEST } from './issuing.ts';

const DAY_MS = 86_400_000;
const START = Math.floor(Date.now() / 1000) * 1000;
const UNKNOWN_KEY = '01234-56789-ABCDE-FGHJK-MTS3K';
const clock = createTestClock(START);
let server: TestServer;
let bearer: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer({ clock });
  bearer = await newBearer(server, 'integrator');
  // Authority and list, whose making would be a change.
  await server.get('/certs/crl/');
});
afterAll(() => server.stop());
beforeEach(() => clock.set(START));

const generate = (input: Record<string, unknown>, headers = bearer) =>
  callRow(server, publicContract.generateCertificate, input, headers);

describe('refused is', () => {
  const name = 'common_name';
  it.each<[string, Record<string, unknown>, string]>([
    ['no name', { common_name: undefined }, name],
    ['an empty name', { common_name: '  ' }, name],
    ['a name of 65 characters', { common_name: 'x'.repeat(65) }, name],
    ['a name with a control character', { common_name: 'a\u0000b' }, name],
    ['half a character', { common_name: 'a\ud800' }, name],
    ['a name that is no text', { common_name: 5 }, name],
    ['an organization of 65 characters', { organization: 'x'.repeat(65) }, 'organization'],
    ['an empty organization', { organization: '' }, 'organization'],
    ['an email address that is none', { email: 'nobody' }, 'email'],
    ['an email address beyond ASCII', { email: 'jiří@example.org' }, 'email'],
    ['a term of 0 days', { validity_days: 0 }, 'validity_days'],
    ['a term of half a day', { validity_days: 0.5 }, 'validity_days'],
    ['a term of 36,501 days', { validity_days: 36_501 }, 'validity_days'],
    ['a term as text', { validity_days: '30' }, 'validity_days'],
    ['a key of 1024 bits', { key_size: 1024 }, 'key_size'],
    ['a key size as text', { key_size: '2048' }, 'key_size'],
    ['an id that is none', { license_id: 'x' }, 'license_id'],
    ['a mistyped license key', { license_id: undefined, license_key: 'typo' }, 'license_key'],
    ['no license', { license_id: undefined }, 'license_id'],
    ['a signing request that is none', { csr: 'hello' }, 'csr'],
    ['an empty signing request', { csr: '' }, 'csr'],
    ['a signing request that is too long', { csr: 'x'.repeat(16_385) }, 'csr'],
    ['a signing request that is no text', { csr: {} }, 'csr'],
    ['a private key as signing request', { csr: REQUEST.key }, 'csr'],
  ])('%s', async (_what, fields, path) => {
    const { license_id } = await newLicense(server);
    const before = await dumpDatabase(server.dataDir);
    const reply = await generate({ license_id, common_name: 'X', csr: REQUEST.csr, ...fields });
    expectFailure(reply, 'invalid_request');
    expect(reply.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(await dumpDatabase(server.dataDir)).toBe(before);
  });

  it('a signing request whose signature is not of its key', async () => {
    const { license_id } = await newLicense(server);
    const der = Buffer.from(REQUEST.csr.replaceAll(/-----.*-----|\s/gu, ''), 'base64');
    der[der.length - 5]! ^= 1;
    const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
    const reply = await generate({ license_id, common_name: 'X', csr });
    expectFailure(reply, 'invalid_request');
    const message = 'The signature of the signing request does not match its key.';
    expect(reply.body).toMatchObject({
      message: `csr: ${message}`,
      details: [{ path: 'csr', message }],
    });
  });

  it('a license that is unknown', async () => {
    const order = { common_name: 'X', csr: REQUEST.csr };
    expectFailure(await generate({ ...order, license_id: 999_999 }), 'license_not_found');
    expectFailure(await generate({ ...order, license_key: UNKNOWN_KEY }), 'license_not_found');
  });

  it('a license that is revoked, with or without a key to be made', async () => {
    const { license_id, license_key } = await newLicense(server);
    await server.admin.revokeLicense({ ref: license_key });
    const before = await dumpDatabase(server.dataDir);
    for (const fields of [{}, { csr: REQUEST.csr }]) {
      expectFailure(await generate({ license_id, common_name: 'X', ...fields }), 'license_revoked', 409);
    }
    expect(await dumpDatabase(server.dataDir)).toBe(before);
  });

  it('not a license in its grace period', async () => {
    const { license_id } = await newLicense(server, { expires_at: new Date(START - DAY_MS).toISOString() });
    expect((await issue(server, { license_id })).certificate.status).toBe('good');
  });

  it('a caller without a token', async () => {
    const { license_id } = await newLicense(server);
    const order = { license_id, common_name: 'X', csr: REQUEST.csr };
    expectFailure(await generate(order, {}), 'unauthorized');
    expectFailure(await generate(order, { authorization: 'Bearer ldk_x' }), 'unauthorized');
  });
});

it('an expired license gets no certificate, one in its grace period does', async () => {
  const license = await newLicense(server, { plan: 'standard' });
  const { license_id } = license;
  const request = { license_id, common_name: 'X', csr: REQUEST.csr };
  clock.set(Date.parse(license.grace_ends_at) - 1);
  expect((await generate(request)).status).toBe(200);
  clock.set(Date.parse(license.grace_ends_at));
  expectFailure(await generate(request), 'license_expired', 409);
});
