import { expect, it } from 'vitest';
import { createDeniedCallLog } from '#server/features/denied-calls/denied-call-log.ts';
import type { DeniedCallRow } from '#server/features/denied-calls/denied-call-store.ts';
import { activateDevice, newFingerprint, newLicense, success, unique } from '../helpers/contract-calls.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { fingerprintOf } from '../helpers/test-server.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 1, 12);
const clock = sharedClock(START);
const server = sharedServer({ clock });

const denialsOf = async (license: { license_key: string }) =>
  (await server.admin.listDeniedCalls({ license: license.license_key })).items;

it('lists what client software was denied, with device, product, entitlement and address', async () => {
  const license = await newLicense(server);
  const device = newFingerprint();
  await success(server, 'authorize', { license_key: license.license_key, machine_fingerprint: device });
  await success(server, 'authorize', { license_key: license.license_key, feature: 'ocr' });
  expect(await denialsOf(license)).toMatchObject([
    { error_code: 'feature_not_included', feature: 'ocr', machine_fingerprint: null },
    {
      license_id: license.license_id,
      holder: license.holder,
      call: 'authorize',
      error_code: 'machine_not_activated',
      machine_fingerprint: device,
      product_slug: 'my-product',
      feature: null,
      address: '127.0.0.1',
      count: 1,
      first_at: new Date(START).toISOString(),
    },
  ]);
});

it('counts equal calls of a day in one entry, and starts a new one the next day', async () => {
  const license = await newLicense(server);
  const ask = { license_key: license.license_key, product_slug: 'other' };
  for (let call = 0; call < 3; call += 1) {
    await success(server, 'authorize', ask);
    clock.advance(1000);
  }
  expect(await denialsOf(license)).toMatchObject([{ error_code: 'product_mismatch', count: 3 }]);
  await success(server, 'authorize', ask);
  expect(await denialsOf(license)).toMatchObject([
    { count: 4, first_at: new Date(START).toISOString(), last_at: new Date(START + 3000).toISOString() },
  ]);
  clock.advance(DAY_MS);
  await success(server, 'authorize', ask);
  expect(await denialsOf(license)).toMatchObject([{ count: 1 }, { count: 4 }]);
});

it('lists token checks and activations that were refused', async () => {
  const plan = unique('single');
  await server.admin.createPlan({ name: plan, max_activations: 1 });
  const license = await newLicense(server, { plan });
  const { token } = await server.admin.issueToken({ license: license.license_key });
  await activateDevice(server, license);
  const refused = newFingerprint();
  const body = { license_key: license.license_key, machine_fingerprint: refused };
  expect(await server.post('/activate/', body)).toMatchObject({ status: 409 });
  clock.advance(1);
  await server.admin.revokeLicense({ ref: license.license_key });
  expect(await server.post('/authorize/token/', { token })).toMatchObject({ body: { valid: false } });
  expect(await denialsOf(license)).toMatchObject([
    { call: 'authorize_token', error_code: 'license_revoked', machine_fingerprint: null },
    { call: 'activate', error_code: 'activation_limit_reached', machine_fingerprint: refused },
  ]);
  const filtered = { license: license.license_key, error_code: 'license_revoked' } as const;
  expect((await server.admin.listDeniedCalls(filtered)).items).toHaveLength(1);
});

it('keeps the latest hundred of a license, and pages through them', async () => {
  const license = await newLicense(server);
  for (let device = 1; device <= 130; device += 1) {
    await success(server, 'authorize', {
      license_key: license.license_key,
      machine_fingerprint: fingerprintOf(device),
    });
    clock.advance(1);
    // Written before the next ones, of which only so many are described at once.
    if (device % 40 === 0) await denialsOf(license);
  }
  const seen: (string | null)[] = [];
  let cursor: string | undefined;
  do {
    const page = await server.admin.listDeniedCalls({ license: license.license_key, limit: 30, cursor });
    seen.push(...page.items.map((item) => item.machine_fingerprint));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  expect(seen).toEqual(Array.from({ length: 100 }, (_, index) => fingerprintOf(130 - index)));
});

it('describes only so many different calls at once, so that a flood fills no memory', async () => {
  const written: DeniedCallRow[] = [];
  const nothing = async () => {};
  // Called by itself: on a slow machine, a server would write some of the calls before the others come.
  const log = createDeniedCallLog({
    store: { add: async (row) => void written.push(row), pruneLicense: nothing, pruneAll: nothing },
    transaction: (work) => work(),
    clock,
    onChanged() {},
    onError(error) {
      throw error;
    },
  });
  for (let device = 1; device <= 60; device += 1)
    log.record({
      licenseId: 1,
      call: 'authorize',
      errorCode: 'machine_not_activated',
      machineFingerprint: fingerprintOf(device),
    });
  await log.flush();
  expect(written).toHaveLength(50);
});

it('is on the overview', async () => {
  const before = (await server.admin.overview({})).denied_today;
  const license = await newLicense(server);
  for (const product of ['other', 'other', 'third'])
    await success(server, 'authorize', { license_key: license.license_key, product_slug: product });
  await denialsOf(license);
  expect((await server.admin.overview({})).denied_today).toEqual({
    calls: before.calls + 3,
    licenses: before.licenses + 1,
  });
});
