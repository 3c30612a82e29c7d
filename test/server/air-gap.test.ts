import { describe, expect, it } from 'vitest';
import { formatMachineRequest, type MachineRequest } from '../../verifier/machine-request.ts';
import { parsePublicKeys } from '../../verifier/public-key-format.ts';
import { verifyLicenseFile } from '../../verifier/verify-license-file.ts';
import {
  activateDevice,
  adminSuccess,
  callAdmin,
  newFingerprint,
  newLicense,
  publicFields,
} from '../helpers/contract-calls.ts';
import { dumpDatabase, writeRows } from '../helpers/database.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2031, 0, 1);
const NOW = new Date(START).toISOString();
const UNKNOWN_KEY = '01234-56789-ABCDE-FGHJK-MTS3K';
const clock = sharedClock(START);
const server = sharedServer({ clock });

function requestOf(licenseKey: string, fields: Partial<MachineRequest> = {}): MachineRequest {
  return { licenseKey, fingerprint: newFingerprint(), nonce: 'n', issuedAt: START - DAY_MS, ...fields };
}

const preview = (request: MachineRequest, form: 'file' | 'line' = 'file') =>
  adminSuccess(server, 'previewOfflineRequest', { request: formatMachineRequest(request, form) });

describe('POST /offline/preview/', () => {
  it('shows the content in both forms, and changes nothing', async () => {
    const license = await newLicense(server);
    const request = requestOf(license.license_key, { product: 'my-product', machineName: 'Labor 3' });
    const before = await dumpDatabase(server.dataDir);
    const told = {
      ok: true,
      license_key: license.license_key,
      machine_fingerprint: request.fingerprint,
      machine_name: 'Labor 3',
      product_slug: 'my-product',
      requested_at: new Date(START - DAY_MS).toISOString(),
      license: { ...publicFields(license), machine_fingerprint: request.fingerprint },
      activation: null,
      can_activate: true,
      reason: null,
      message: null,
    };
    expect(await preview(request)).toEqual({ ...told, form: 'file' });
    expect(await preview(request, 'line')).toEqual({ ...told, form: 'line' });
    expect(await dumpDatabase(server.dataDir)).toBe(before);
  });

  it('knows a device that is active, which may have its file again when all seats are taken', async () => {
    const license = await newLicense(server);
    const { activation } = await activateDevice(server, license);
    const request = requestOf(license.license_key, { fingerprint: activation.machine_fingerprint });
    expect(await preview(request)).toMatchObject({ can_activate: true, activation });
  });

  const obstacles: [string, string, () => Promise<MachineRequest>][] = [
    ['an unknown license', 'license_not_found', async () => requestOf(UNKNOWN_KEY)],
    ['a mistyped key', 'invalid_request', async () => requestOf('01234-56789-ABCDE-FGHJK-MTS3M')],
    [
      'a name that no device may have',
      'invalid_request',
      async () => requestOf((await newLicense(server)).license_key, { machineName: 'a'.repeat(201) }),
    ],
    [
      'another product',
      'product_mismatch',
      async () => requestOf((await newLicense(server)).license_key, { product: 'another' }),
    ],
    [
      'a revoked license',
      'license_revoked',
      async () => {
        const { license_key } = await newLicense(server);
        await server.admin.revokeLicense({ ref: license_key });
        return requestOf(license_key);
      },
    ],
    [
      'an expired license',
      'license_expired',
      async () =>
        requestOf(
          (await newLicense(server, { plan: 'trial', expires_at: '2030-12-31T00:00:00Z' })).license_key,
        ),
    ],
    [
      'a full license',
      'activation_limit_reached',
      async () => {
        const license = await newLicense(server);
        await activateDevice(server, license);
        return requestOf(license.license_key);
      },
    ],
  ];
  it.each(obstacles)(
    'says beforehand what the activation would be refused for: %s',
    async (_name, code, make) => {
      const request = await make();
      const seen = await preview(request);
      expect(seen).toMatchObject({
        can_activate: false,
        reason: code,
        machine_fingerprint: request.fingerprint,
      });
      const refusal = await callAdmin(server, 'activateOffline', { request: formatMachineRequest(request) });
      expectFailure(refusal, code);
      expect(seen.message).toBe(refusal.body.message);
    },
  );

  it.each(['', 'nonsense', 'LDR1.x', '-----BEGIN LICENSE REQUEST-----\neA.b\n-----END LICENSE REQUEST-----'])(
    'refuses what is no request: %j',
    async (request) => {
      expectFailure(await callAdmin(server, 'previewOfflineRequest', { request }), 'invalid_request');
    },
  );

  it.each<[string, 'file' | 'line', (text: string) => string, string]>([
    [
      'a whole e-mail',
      'file',
      (text) => `Hello,\n\n${text}\nRegards\n`,
      'there is other text before or after the BEGIN and END LICENSE REQUEST lines',
    ],
    ['a line with a greeting', 'line', (text) => `Hello, ${text}`, 'there is other text before LDR1'],
    [
      'a request cut short',
      'file',
      (text) => text.slice(0, -60),
      'it is incomplete: the END LICENSE REQUEST line is missing',
    ],
    ['prose', 'file', () => 'Hello', 'it has no LICENSE REQUEST frame and no LDR1. prefix'],
  ])('says what to fix in %s', async (_what, form, change, problem) => {
    const request = change(formatMachineRequest(requestOf(UNKNOWN_KEY), form));
    const reply = await callAdmin(server, 'previewOfflineRequest', { request });
    expectFailure(reply, 'invalid_request');
    expect(reply.body.message).toBe(`request: This is not an activation request: ${problem}.`);
  });
});

const explain = (license_file: string, fields: object = {}) =>
  adminSuccess(server, 'explainLicenseFile', { license_file, ...fields });

const outcomesOf = ({ rules }: { rules: { rule: string; outcome: string }[] }) =>
  Object.fromEntries(rules.map(({ rule, outcome }) => [rule, outcome]));

const ALL_PASSED = {
  format: 'passed',
  known_key: 'passed',
  trusted_key: 'passed',
  signature: 'passed',
  decryption: 'not_asked',
  contents: 'passed',
  clock: 'passed',
  license_term: 'passed',
  file_term: 'passed',
  not_revoked: 'passed',
  machine: 'passed',
  product: 'passed',
  known_here: 'passed',
  not_revoked_here: 'passed',
  in_term_here: 'passed',
  device_here: 'passed',
};

describe('POST /offline/explain/', () => {
  it('shows every rule with the values that it compared', async () => {
    const license = await newLicense(server);
    const { license_file, activation } = await activateDevice(server, license);
    const { machine_fingerprint } = activation;
    const body = await explain(license_file, { machine_fingerprint, product_slug: 'my-product' });
    expect(body).toMatchObject({ valid: true, reason: null, signed_at: NOW });
    expect(body.license).toMatchObject({ license_id: license.license_id, machine_fingerprint });
    expect(Date.parse(body.file_expires_at)).toBe(START + 90 * DAY_MS);
    expect(outcomesOf(body)).toEqual(ALL_PASSED);
    const inputs = Object.fromEntries(
      (body.rules as { rule: string; inputs: object }[]).map(({ rule, inputs: given }) => [rule, given]),
    );
    const { key_id } = await server.admin.publicKey({});
    expect(inputs).toMatchObject({
      known_key: { key_id },
      clock: { issued: NOW, now: NOW },
      license_term: { expires_at: license.expires_at, grace_ends_at: license.grace_ends_at, now: NOW },
      file_term: { file_expires_at: body.file_expires_at, now: NOW },
      machine: { bound_to: machine_fingerprint, machine_fingerprint },
      product: { licensed: 'my-product', asked: 'my-product' },
      known_here: { license_id: license.license_id },
      device_here: { is_active: true },
    });
  });

  it('marks rules that were not checked', async () => {
    const { license_file } = await activateDevice(server, await newLicense(server));
    const body = await explain(license_file);
    expect(body.valid).toBe(true);
    expect(outcomesOf(body)).toEqual({ ...ALL_PASSED, machine: 'not_asked', product: 'not_asked' });
  });

  it('continues after the first rule that fails', async () => {
    const license = await newLicense(server, { days: 30 });
    const { license_file, activation } = await activateDevice(server, license);
    await server.admin.releaseDevice({
      ref: license.license_key,
      machine_fingerprint: activation.machine_fingerprint,
    });
    await server.admin.revokeLicense({ ref: license.license_key });
    clock.advance(100 * DAY_MS);
    const body = await explain(license_file, {
      machine_fingerprint: newFingerprint(),
      product_slug: 'another',
    });
    expect(body).toMatchObject({ valid: false, reason: 'license_revoked' });
    expect(outcomesOf(body)).toEqual({
      ...ALL_PASSED,
      license_term: 'failed',
      file_term: 'failed',
      machine: 'failed',
      product: 'failed',
      not_revoked_here: 'failed',
      in_term_here: 'failed',
      device_here: 'failed',
    });
  });

  it('moves its clock', async () => {
    const license = await newLicense(server);
    const { license_file } = await activateDevice(server, license);
    const at = (moment: number) => explain(license_file, { at: new Date(moment).toISOString() });
    expect(await at(START - 5 * 60_000)).toMatchObject({ valid: true });
    const early = await at(START - 5 * 60_000 - 1);
    expect(early).toMatchObject({ valid: false, reason: 'not_yet_valid' });
    expect(outcomesOf(early)).toMatchObject({ clock: 'failed', file_term: 'passed' });
    const late = await at(START + 90 * DAY_MS);
    expect(late).toMatchObject({ valid: false, reason: 'file_expired' });
    expect(outcomesOf(late)).toMatchObject({ clock: 'passed', file_term: 'failed', license_term: 'passed' });
    expect(await at(Date.parse(license.grace_ends_at))).toMatchObject({ reason: 'license_expired' });
  });

  it('reaches the same verdict as /validate-offline/', async () => {
    const license = await newLicense(server);
    const { license_file, activation } = await activateDevice(server, license);
    const { machine_fingerprint } = activation;
    const [begin, first, second = '', ...rest] = license_file.split('\n');
    const letter = second.startsWith('A') ? 'B' : 'A';
    const tampered = [begin, first, letter + second.slice(1), ...rest].join('\n');
    const agree = async (file: string, fields: object = {}) => {
      const { body } = await server.post('/validate-offline/', { license_file: file, ...fields });
      const { valid, reason } = await explain(file, fields);
      expect([valid, reason]).toEqual([body.valid, body.reason]);
      return reason as string | null;
    };
    expect(await agree(license_file)).toBe(null);
    expect(await agree(tampered)).toBe('signature_invalid');
    expect(await agree(license_file, { machine_fingerprint: newFingerprint() })).toBe('machine_mismatch');
    expect(await agree(license_file, { product_slug: 'another' })).toBe('product_mismatch');
    clock.advance(-10 * 60_000);
    expect(await agree(license_file)).toBe('not_yet_valid');
    clock.set(START + 100 * DAY_MS);
    expect(await agree(license_file)).toBe('file_expired');
    clock.set(Date.parse(license.grace_ends_at));
    expect(await agree(license_file)).toBe('license_expired');
    await server.admin.renewLicense({ ref: license.license_key, days: 10 });
    // The file says expired, and yet the license is not.
    expect(await agree(license_file)).toBe('file_expired');
    clock.set(START);
    await server.admin.releaseDevice({ ref: license.license_key, machine_fingerprint });
    expect(await agree(license_file)).toBe('machine_not_activated');
    await server.admin.revokeLicense({ ref: license.license_key });
    expect(await agree(license_file)).toBe('license_revoked');
    clock.set(START + 100 * DAY_MS);
    expect(await agree(license_file)).toBe('license_revoked');
  });

  it('does not vouch for a license that the database has lost', async () => {
    const license = await newLicense(server);
    const { license_file } = await adminSuccess(server, 'issueLicenseFile', { license: license.license_key });
    await writeRows(server.dataDir, `DELETE FROM licenses WHERE id = ${license.license_id}`);
    const body = await explain(license_file);
    expect(body).toMatchObject({ valid: false, reason: 'license_revoked' });
    expect(outcomesOf(body)).toMatchObject({ known_here: 'failed', not_revoked_here: 'not_asked' });
  });

  it('opens an encrypted file with its key and fingerprint', async () => {
    const license = await newLicense(server);
    const { license_file, activation } = await activateDevice(server, license, { encrypt: true });
    const { machine_fingerprint } = activation;
    const { license_key } = license;
    expectFailure(await callAdmin(server, 'explainLicenseFile', { license_file }), 'invalid_request');
    const opened = await explain(license_file, { machine_fingerprint, license_key });
    expect(opened.valid).toBe(true);
    expect(outcomesOf(opened)).toEqual({ ...ALL_PASSED, decryption: 'passed', product: 'not_asked' });
    const closed = await explain(license_file, { machine_fingerprint: newFingerprint(), license_key });
    expect(closed).toMatchObject({ valid: false, reason: 'machine_mismatch', license: null });
    expect(outcomesOf(closed)).toMatchObject({
      signature: 'passed',
      decryption: 'failed',
      contents: 'not_asked',
    });
  });

  it.each([
    ['no license file', 'nonsense', 'not_a_license_file'],
    [
      'a damaged one',
      '-----BEGIN LICENSE FILE-----\neyJhIjoxfQ==\n-----END LICENSE FILE-----',
      'signature_invalid',
    ],
  ])('has a word for %s, and asks no further', async (_name, text, reason) => {
    const body = await explain(text);
    expect(body).toMatchObject({
      valid: false,
      reason,
      license: null,
      signed_at: null,
      file_expires_at: null,
    });
    expect(body.rules[0]).toMatchObject({
      rule: 'format',
      outcome: 'failed',
      inputs: { problem: expect.stringMatching(/license file/u) as string },
    });
    const { format, signature, ...others } = outcomesOf(body);
    expect(new Set(Object.values(others))).toEqual(new Set(['not_asked']));
  });
});

describe('POST /licenses/file/', () => {
  const issue = (input: Record<string, unknown>) => adminSuccess(server, 'issueLicenseFile', input);
  const verify = async (file: string, fingerprint?: string) =>
    verifyLicenseFile(file, {
      keys: parsePublicKeys(JSON.stringify(await server.admin.publicKey({}))),
      now: START,
      fingerprint,
    });

  it('signs a file for a device with the requested validity, and records it', async () => {
    const license = await newLicense(server);
    const { machine_fingerprint } = (await activateDevice(server, license)).activation;
    const body = await issue({ license: String(license.license_id), machine_fingerprint, ttl_days: 7 });
    expect(body.file_expires_at).toBe(new Date(START + 7 * DAY_MS).toISOString());
    expect(await verify(body.license_file, machine_fingerprint)).toMatchObject({
      valid: true,
      machine: { fingerprint: machine_fingerprint },
      fileExpiresAt: START + 7 * DAY_MS,
    });
    expect(await verify(body.license_file, newFingerprint())).toMatchObject({ reason: 'machine_mismatch' });
    const { items } = await server.admin.listAudit({ subject: `license:${license.license_id}`, limit: 1 });
    expect(items).toMatchObject([
      {
        action: 'license_file.issued',
        after: { machine_fingerprint, file_expires_at: body.file_expires_at },
      },
    ]);
  });

  it('signs one for any machine, which ends with the license', async () => {
    const license = await newLicense(server);
    for (const ttl_days of [undefined, 36_500]) {
      const body = await issue({ license: license.license_key, ttl_days });
      expect(body.file_expires_at).toBe(license.grace_ends_at);
      expect(await verify(body.license_file, newFingerprint())).toMatchObject({ valid: true, machine: null });
    }
  });

  it('signs none for a device that has no seat, nor for a license that is over', async () => {
    const license = await newLicense(server);
    const { license_key } = license;
    const { machine_fingerprint } = (await activateDevice(server, license)).activation;
    const refusal = (fields: object = {}) =>
      callAdmin(server, 'issueLicenseFile', { license: license_key, ...fields });
    expectFailure(await refusal({ machine_fingerprint: newFingerprint() }), 'device_not_found');
    await server.admin.releaseDevice({ ref: license_key, machine_fingerprint });
    expectFailure(await refusal({ machine_fingerprint }), 'device_not_found');
    expectFailure(await refusal({ license: '999999' }), 'license_not_found');
    clock.set(Date.parse(license.grace_ends_at));
    expectFailure(await refusal(), 'license_expired', 409);
    await server.admin.revokeLicense({ ref: license_key });
    expectFailure(await refusal(), 'license_revoked', 409);
  });
});
