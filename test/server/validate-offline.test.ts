import { describe, expect, it } from 'vitest';
import { formatMachineRequest } from '../../verifier/machine-request.ts';
import {
  activateDevice,
  adminSuccess,
  callAdmin,
  newFingerprint,
  newFloatingLicense,
  newLicense,
  publicFields,
  success,
  unique,
} from '../helpers/contract-calls.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { envelopeOf, fileOf, licenseFile } from '../verifier/sample-license-file.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 1);
const clock = sharedClock(START);
const server = sharedServer({ clock });

const at = (ms: number) => new Date(ms).toISOString();
const validate = (license_file: string, fields: object = {}) =>
  success(server, 'validateOffline', { license_file, ...fields });

/** A license with a device, and the file that the device got. */
async function activated(input: Parameters<typeof newLicense>[1] = {}, fields: object = {}) {
  const license = await newLicense(server, input);
  const { license_file, activation } = await activateDevice(server, license, fields);
  return {
    license,
    ref: license.license_key,
    license_file,
    machine_fingerprint: activation.machine_fingerprint,
  };
}

/** What the file says, for files that can be read. */
function payloadOf(file: string) {
  return JSON.parse(Buffer.from(envelopeOf(file).enc, 'base64').toString()) as {
    meta: { issued: string; expiry: string; ttl: number };
    license: Record<string, unknown>;
  };
}

describe('a file from an activation', () => {
  it('is valid, and returns the current license', async () => {
    const { license, license_file, machine_fingerprint } = await activated();
    const body = await validate(license_file, { machine_fingerprint, product_slug: 'my-product' });
    expect(body).toEqual({
      ok: true,
      valid: true,
      reason: null,
      license: expect.objectContaining({
        license_id: license.license_id,
        state: 'active',
        machine_fingerprint,
      }) as object,
      signed_at: at(START),
      file_expires_at: at(START + 90 * DAY_MS),
    });
    expect(await validate(license_file)).toEqual(body);
  });

  it('lives 90 days, and never longer than grace', async () => {
    const long = await activated();
    expect(payloadOf(long.license_file).meta).toEqual({
      issued: at(START),
      expiry: at(START + 90 * DAY_MS),
      ttl: 90 * 86_400,
    });
    const short = await activated({ days: 30 });
    expect(payloadOf(short.license_file).meta.expiry).toBe(at(START + 44 * DAY_MS));
  });

  it('contains the license object of the contract, and nothing more', async () => {
    const { license, license_file, machine_fingerprint } = await activated();
    expect(payloadOf(license_file)).toEqual({
      meta: expect.anything() as object,
      license: { ...publicFields(license), machine_fingerprint, state: 'active', activation_count: 1 },
      machine: { fingerprint: machine_fingerprint },
      issuer: {
        name: expect.any(String) as string,
        key_id: (await server.get('/public-key/')).body.key_id as string,
      },
    });
  });

  it('may have been rewrapped, indented and converted on its way', async () => {
    const { license_file } = await activated();
    const [begin, ...rest] = license_file.trim().split('\n');
    const joined = `${begin}\n${rest.slice(0, -1).join('')}\n${rest.at(-1)}`;
    for (const text of [license_file.replaceAll('\n', '\r\n'), `\n\n  ${license_file}  \n`, joined]) {
      expect((await validate(text)).valid).toBe(true);
    }
  });
});

describe('a file is refused', () => {
  type File = Awaited<ReturnType<typeof activated>>;
  const rows: [string, string, (file: File) => Promise<object | void> | object | void][] = [
    ['of another machine', 'machine_mismatch', () => ({ machine_fingerprint: newFingerprint() })],
    ['of another product', 'product_mismatch', () => ({ product_slug: 'another' })],
    [
      'once its license is revoked',
      'license_revoked',
      async ({ ref }) => void (await server.admin.revokeLicense({ ref })),
    ],
    ['at the end of grace', 'license_expired', ({ license }) => clock.set(Date.parse(license.grace_ends_at))],
    [
      'once its device is released',
      'machine_not_activated',
      async ({ ref, machine_fingerprint }) =>
        void (await server.admin.releaseDevice({ ref, machine_fingerprint })),
    ],
  ];

  it.each(rows)('%s: %s', async (_name, reason, change) => {
    const file = await activated({ days: 20 });
    const fields = (await change(file)) ?? {};
    const body = await validate(file.license_file, fields);
    expect(body).toMatchObject({ ok: true, valid: false, reason });
    expect(body).not.toHaveProperty('license_file');
  });

  it('unless the clock is at most 5 minutes behind', async () => {
    const { license_file } = await activated();
    clock.advance(-300_000);
    expect((await validate(license_file)).valid).toBe(true);
  });

  it('when any part was altered', async () => {
    const { license_file } = await activated();
    const envelope = envelopeOf(license_file);
    const other = envelopeOf((await activated()).license_file);
    const payload = { ...payloadOf(license_file), machine: null };
    const altered = [
      { ...envelope, enc: Buffer.from(JSON.stringify(payload)).toString('base64') },
      { ...envelope, sig: other.sig },
      { ...envelope, enc: other.enc },
      { ...envelope, sig: Buffer.alloc(64).toString('base64') },
      { ...envelope, sig: '' },
      { ...envelope, alg: 'none' },
      { ...envelope, alg: 'aes-256-gcm+ed25519' },
      { enc: envelope.enc },
    ];
    for (const each of altered) {
      const fields = { license_key: '01234-56789-ABCDE-FGHJK-MTS3K', machine_fingerprint: newFingerprint() };
      const body = await validate(fileOf(each), fields);
      expect(body).toEqual({
        ok: true,
        valid: false,
        reason: 'signature_invalid',
        license: null,
        signed_at: null,
        file_expires_at: null,
      });
    }
  });

  it('when signed with another key', async () => {
    expect(await validate(licenseFile())).toMatchObject({
      valid: false,
      reason: 'unknown_key_id',
      license: null,
    });
    const { license_file } = await activated();
    const foreign = fileOf({ ...envelopeOf(licenseFile()), kid: envelopeOf(license_file).kid });
    expect(await validate(foreign)).toMatchObject({
      valid: false,
      reason: 'signature_invalid',
      license: null,
    });
  });
});

describe('a good license whose file is outdated', () => {
  it('gets a new file after its time to live', async () => {
    const { license_file, machine_fingerprint } = await activated();
    clock.advance(90 * DAY_MS);
    const body = await validate(license_file, { machine_fingerprint });
    expect(body).toMatchObject({
      valid: false,
      reason: 'file_expired',
      file_expires_at: at(START + 90 * DAY_MS),
    });
    const next = await validate(body.license_file, { machine_fingerprint });
    expect(next).toMatchObject({ valid: true, signed_at: at(START + 90 * DAY_MS) });
    expect(next).not.toHaveProperty('license_file');
  });

  it('gets a new file if it was signed over 5 minutes ahead of the clock', async () => {
    const { license_file, machine_fingerprint } = await activated();
    clock.advance(-300_001);
    const body = await validate(license_file, { machine_fingerprint });
    expect(body).toMatchObject({ valid: false, reason: 'not_yet_valid', signed_at: at(START) });
    expect(await validate(body.license_file, { machine_fingerprint })).toMatchObject({
      valid: true,
      signed_at: at(START - 300_001),
    });
  });

  it('gets no new file for one that is not valid yet while the license is revoked', async () => {
    const { ref, license_file } = await activated();
    await server.admin.revokeLicense({ ref });
    clock.advance(-300_001);
    const body = await validate(license_file);
    expect(body).toMatchObject({ valid: false, reason: 'license_revoked' });
    expect(body).not.toHaveProperty('license_file');
  });

  it('gets a new file after a renewal, even when the old one had ended with its license', async () => {
    const { ref, license_file } = await activated({ days: 10 });
    await server.admin.renewLicense({ ref, days: 100 });
    const early = await validate(license_file);
    expect(early).toMatchObject({ valid: true, reason: null });
    expect(payloadOf(early.license_file).license).toMatchObject({ expires_at: at(START + 110 * DAY_MS) });
    clock.advance(30 * DAY_MS);
    const late = await validate(license_file);
    expect(late).toMatchObject({ valid: false, reason: 'file_expired' });
    expect((await validate(late.license_file)).valid).toBe(true);
  });

  const changes: [string, (ref: string, plan: string) => Promise<unknown>, object][] = [
    ['an upgrade', (ref) => server.admin.upgradeLicense({ ref, plan: 'enterprise' }), { plan: 'enterprise' }],
    [
      'new features',
      (_ref, plan) => server.admin.updatePlan({ name: plan, features: ['ocr'] }),
      { features: ['ocr'] },
    ],
    ['another grace', (_ref, plan) => server.admin.updatePlan({ name: plan, grace_days: 3 }), {}],
    [
      'more seats',
      (_ref, plan) => server.admin.updatePlan({ name: plan, max_activations: 7 }),
      { max_activations: 7 },
    ],
  ];
  it.each(changes)('gets a new file after %s', async (_name, change, said) => {
    const plan = unique('changing');
    await server.admin.createPlan({ name: plan, tier: 1 });
    const { ref, license_file } = await activated({ plan });
    await change(ref, plan);
    const body = await validate(license_file);
    expect(body.valid).toBe(true);
    expect(payloadOf(body.license_file).license).toMatchObject(said);
    expect(await validate(body.license_file)).not.toHaveProperty('license_file');
  });

  it('gets a new file after more seats of a floating license', async () => {
    const { license_key: ref } = await newFloatingLicense(server, { seats: 10 });
    const { license_file } = await server.admin.issueLicenseFile({ license: ref });
    expect(await validate(license_file)).not.toHaveProperty('license_file');
    await server.admin.updateLicense({ ref, seats: 20 });
    const body = await validate(license_file);
    expect(body.valid).toBe(true);
    expect(payloadOf(body.license_file).license).toMatchObject({ seats: 20 });
    expect(await validate(body.license_file)).not.toHaveProperty('license_file');
  });

  it('gets none for another device of the same license, which changes nothing for this one', async () => {
    const { license, license_file } = await activated({ plan: 'professional' });
    await activateDevice(server, license);
    expect(await validate(license_file)).not.toHaveProperty('license_file');
  });
});

describe('in grace', () => {
  it('a file is valid', async () => {
    const { license, license_file } = await activated({ days: 10 });
    clock.set(Date.parse(license.expires_at));
    expect(await validate(license_file)).toMatchObject({
      valid: true,
      reason: null,
      license: { state: 'in_grace' },
    });
  });
});

describe('an encrypted file', () => {
  it('opens with its key and its device together, and stays encrypted when it is renewed', async () => {
    const { ref: license_key, license_file, machine_fingerprint } = await activated({}, { encrypt: true });
    expect(envelopeOf(license_file).alg).toBe('aes-256-gcm+ed25519');
    expectFailure(await server.post('/validate-offline/', { license_file }), 'invalid_request');
    expectFailure(
      await server.post('/validate-offline/', { license_file, machine_fingerprint }),
      'invalid_request',
    );
    const fields = { license_key: license_key.toLowerCase(), machine_fingerprint };
    expect(await validate(license_file, fields)).toMatchObject({ valid: true, reason: null });
    const elsewhere = await validate(license_file, { license_key, machine_fingerprint: newFingerprint() });
    expect(elsewhere).toMatchObject({ valid: false, reason: 'machine_mismatch', license: null });
    clock.advance(90 * DAY_MS);
    const next = await validate(license_file, fields);
    expect(next.reason).toBe('file_expired');
    expect(envelopeOf(next.license_file).alg).toBe('aes-256-gcm+ed25519');
    expect((await validate(next.license_file, fields)).valid).toBe(true);
  });
});

it('the largest license file there can be comes back in', async () => {
  const plan = unique('large');
  const features = Array.from({ length: 200 }, (_, number) => `${'f'.repeat(60)}-${100 + number}`);
  await server.admin.createPlan({ name: plan, features, product: 'p'.repeat(64) });
  const {
    ref: license_key,
    license_file,
    machine_fingerprint,
  } = await activated({ plan, holder: '株'.repeat(200) }, { encrypt: true });
  expect(await validate(license_file, { license_key, machine_fingerprint })).toMatchObject({ valid: true });
});

describe('an invalid license file', () => {
  it.each([
    ['nothing', ''],
    ['words', 'hello'],
    ['an empty frame', '-----BEGIN LICENSE FILE-----\n-----END LICENSE FILE-----\n'],
    ['another frame', '-----BEGIN CERTIFICATE-----\neyJ9\n-----END CERTIFICATE-----\n'],
    ['half a frame', '-----BEGIN LICENSE FILE-----\neyJ9\n'],
    ['a frame around words', '-----BEGIN LICENSE FILE-----\nhello\n-----END LICENSE FILE-----\n'],
    ['a NUL', '\u0000'],
    ['endless', 'A'.repeat(40_000)],
  ])('is an invalid request: %s', async (_name, license_file) => {
    expectFailure(await server.post('/validate-offline/', { license_file }), 'invalid_request');
  });
});

describe('an air-gapped machine', () => {
  const requestOf = (licenseKey: string, fields: object = {}) =>
    formatMachineRequest({
      licenseKey,
      fingerprint: newFingerprint(),
      nonce: 'n0nce',
      issuedAt: START,
      ...fields,
    });

  it('is activated from its request, with a file that lasts as long as the license', async () => {
    const license = await newLicense(server);
    const body = await adminSuccess(server, 'activateOffline', {
      request: requestOf(license.license_key, { machineName: 'far' }),
    });
    expect(body).toMatchObject({ license: { state: 'active' }, activation: { machine_name: 'far' } });
    expect(payloadOf(body.license_file).meta).toEqual({
      issued: at(START),
      expiry: license.grace_ends_at,
      ttl: null,
    });
    expect((await validate(body.license_file)).valid).toBe(true);
  });

  it('is told apart from a device that was active before', async () => {
    const { license_key } = await newLicense(server);
    const request = requestOf(license_key);
    const first = await adminSuccess(server, 'activateOffline', { request });
    const { activation } = first;
    expect(first).toMatchObject({ already_active: false });
    const again = await adminSuccess(server, 'activateOffline', { request });
    expect(again).toMatchObject({ activation, already_active: true });
  });

  it('may be given less', async () => {
    const { license_key } = await newLicense(server);
    const body = await adminSuccess(server, 'activateOffline', {
      request: requestOf(license_key),
      ttl_days: 7,
    });
    expect(body.license_file && payloadOf(body.license_file).meta.expiry).toBe(at(START + 7 * DAY_MS));
  });

  it.each([
    ['no request', 'hello', 'invalid_request'],
    ['a mistyped key', requestOf('x'), 'invalid_request'],
    ['an unknown key', requestOf('01234-56789-ABCDE-FGHJK-MTS3K'), 'license_not_found'],
  ])('is refused for %s', async (_name, request, code) => {
    expectFailure(await callAdmin(server, 'activateOffline', { request }), code);
  });

  it('is refused like any activation', async () => {
    const { license_key } = await newLicense(server);
    const bad = { request: requestOf(license_key, { machineName: 'a'.repeat(201) }) };
    expectFailure(await callAdmin(server, 'activateOffline', bad), 'invalid_request');
    const mismatch = { request: requestOf(license_key, { product: 'another' }) };
    expectFailure(await callAdmin(server, 'activateOffline', mismatch), 'product_mismatch');
    await adminSuccess(server, 'activateOffline', { request: requestOf(license_key) });
    const second = { request: requestOf(license_key) };
    expectFailure(await callAdmin(server, 'activateOffline', second), 'activation_limit_reached');
    await server.admin.revokeLicense({ ref: license_key });
    expectFailure(await callAdmin(server, 'activateOffline', second), 'license_revoked', 403);
  });
});
