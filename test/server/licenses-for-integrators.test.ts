// `/licenses/…` on the API listener (contract, section 8).
import { beforeAll, describe, expect, it } from 'vitest';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { activateDevice, newBearer, newLicense, success, unique } from '../helpers/contract-calls.ts';
import { eventsOf } from '../helpers/outbox.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const START = Date.UTC(2030, 0, 1);
const DAY_MS = 86_400_000;
const UNKNOWN_KEY = '01234-56789-ABCDE-FGHJK-MTS3K';
const clock = sharedClock(START);
const server = sharedServer({ clock });
let admin: Record<string, string>;
let integrator: Record<string, string>;

beforeAll(async () => {
  admin = await newBearer(server);
  integrator = await newBearer(server, 'integrator');
});

const at = (ms: number) => new Date(ms).toISOString();
const create = (input: object, headers = {}) =>
  success(server, 'createLicense', { ...input }, { ...admin, ...headers });
const found = async (filter: Record<string, unknown>) => {
  const { items } = await success(server, 'listLicenses', filter, integrator);
  return items.map(({ license_id }: LicenseRecord) => license_id) as number[];
};

describe('POST /licenses/', () => {
  it('issues what was ordered', async () => {
    const { license } = await create({
      holder: 'Nordwind Forensik GmbH',
      email: 'it@nordwind.example',
      plan: 'professional',
      product: 'ordered',
      days: 30,
      order_number: ' SO-1 ',
      notes: 'Line one\nLine two',
    });
    expect(license).toMatchObject({
      holder: 'Nordwind Forensik GmbH',
      email: 'it@nordwind.example',
      plan: 'professional',
      product: 'ordered',
      expires_at: at(START + 30 * DAY_MS),
      state: 'issued',
      order_number: 'SO-1',
      notes: 'Line one\nLine two',
    });
    expect((await server.admin.showLicense({ ref: license.license_key })).license).toEqual(license);
  });

  it('issues one license per Idempotency-Key', async () => {
    const request = { holder: unique('Holder') };
    const key = { 'idempotency-key': unique('order') };
    const first = await create(request, key);
    expect(await create(request, key)).toEqual(first);
    expect(await found({ search: request.holder })).toEqual([first.license.license_id]);
  });

  it.each([
    [{}, 'invalid_request', 'holder: is required'],
    [{ holder: 'x', days: 0 }, 'invalid_request', 'days: must be at least 1 (got 0)'],
    [{ holder: 'x', email: 'x' }, 'invalid_request', 'email: must be an email address'],
    [{ holder: 'x', plan: 'none' }, 'plan_not_found', 'plan none not found'],
    [{ holder: 'x', order_number: 'a\u200bb' }, 'invalid_request', /^order_number: contains an invisible/u],
    [{ holder: 'x', notes: 'x'.repeat(4001) }, 'invalid_request', 'notes: must have at most 4000 characters'],
  ])('refuses %j', async (input, code, message) => {
    const reply = await server.post('/licenses/', input, admin);
    expectFailure(reply, code);
    expect(reply.body.message).toMatch(message);
  });
});

describe('GET /licenses/', () => {
  it('combines filters and pages through the rest', async () => {
    const product = unique('listed');
    const made: number[] = [];
    for (let count = 0; count < 3; count += 1)
      made.unshift((await newLicense(server, { product, plan: 'trial' })).license_id);
    const other = await newLicense(server, { product, plan: 'enterprise' });
    await server.admin.revokeLicense({ ref: other.license_key });
    expect(await found({ product, plan: 'trial' })).toEqual(made);
    expect(await found({ product, state: 'revoked' })).toEqual([other.license_id]);
    const first = await success(server, 'listLicenses', { product, plan: 'trial', limit: 2 }, integrator);
    const rest = { product, plan: 'trial', limit: 2, cursor: first.next_cursor as string };
    expect([...first.items.map((item: LicenseRecord) => item.license_id), ...(await found(rest))]).toEqual(
      made,
    );
  });
});

describe('GET /licenses/show/', () => {
  it('shows a license and its devices by ID and by key', async () => {
    const license = await newLicense(server);
    const { activation } = await activateDevice(server, license);
    const byId = await success(server, 'showLicense', { license_id: license.license_id }, integrator);
    const byKey = await success(server, 'showLicense', { license_key: license.license_key }, integrator);
    expect(byId).toEqual(byKey);
    expect(byId.license).toMatchObject({ license_id: license.license_id, state: 'active' });
    expect(byId.devices).toMatchObject([{ id: activation.id, released_at: null }]);
  });

  it('needs a reference that exists', async () => {
    expectFailure(await server.get('/licenses/show/', integrator), 'invalid_request');
    expectFailure(await server.get('/licenses/show/?license_id=x', integrator), 'invalid_request');
    expectFailure(
      await server.get(`/licenses/show/?license_key=${UNKNOWN_KEY}`, integrator),
      'license_not_found',
    );
  });
});

describe('PUT /licenses/', () => {
  const update = (input: object) => success(server, 'updateLicense', { ...input }, admin);

  it('changes the given fields, clears null ones, and records it once', async () => {
    const { license: before } = await create({
      holder: unique('Holder'),
      email: 'a@b.example',
      notes: 'old',
    });
    const { license_id } = before;
    const changes = { license_id, holder: unique('Renamed'), email: null, order_number: 'SO-9' };
    const { license } = await update(changes);
    expect(license).toEqual({ ...before, holder: changes.holder, email: null, order_number: 'SO-9' });
    expect(await update(changes)).toMatchObject({ license });
    const { items } = await server.admin.listAudit({ subject: `license:${license_id}`, limit: 50 });
    expect(items.map(({ action }) => action)).toEqual(['license.updated', 'license.created']);
    expect((await eventsOf(server.dataDir, license_id)).length).toBe(0);
  });

  it('makes the license found by its new holder, not by its old one', async () => {
    const [was, becomes] = [unique('Quarzwerk'), unique('Zementwerk')];
    const { license_id } = await newLicense(server, { holder: was });
    expect(await found({ search: was })).toEqual([license_id]);
    await update({ license_id, holder: becomes });
    expect(await found({ search: becomes })).toEqual([license_id]);
    expect(await found({ search: was })).toEqual([]);
  });

  it('refuses an unknown license and an empty holder', async () => {
    expectFailure(
      await server.call('PUT', '/licenses/', { license_id: 999_999, notes: 'x' }, admin),
      'license_not_found',
    );
    const { license_id } = await newLicense(server);
    for (const fields of [{ holder: '' }, { holder: null }, { notes: 5 }])
      expectFailure(
        await server.call('PUT', '/licenses/', { license_id, ...fields }, admin),
        'invalid_request',
      );
  });
});

describe('POST /licenses/revoke/', () => {
  it('revokes once, with one event', async () => {
    const { license_id } = await newLicense(server);
    const { license } = await success(server, 'revokeLicense', { license_id, reason: 'chargeback' }, admin);
    expect(license).toMatchObject({ state: 'revoked', revoke_reason: 'chargeback', revoked_at: at(START) });
    clock.advance(DAY_MS);
    expect((await success(server, 'revokeLicense', { license_id }, admin)).license).toEqual(license);
    expect((await eventsOf(server.dataDir, license_id)).map(({ name }) => name)).toEqual(['license.revoked']);
  });
});

describe('POST /licenses/release/', () => {
  it('frees the seat', async () => {
    const license = await newLicense(server, { plan: 'standard' });
    const { activation } = await activateDevice(server, license);
    const { machine_fingerprint } = activation;
    const request = { license_key: license.license_key, machine_fingerprint };
    const { device } = await success(server, 'releaseDevice', request, admin);
    expect(device).toMatchObject({ id: activation.id, released_at: at(START) });
    expectFailure(await server.post('/licenses/release/', request, admin), 'device_not_found');
    await activateDevice(server, license);
  });
});
