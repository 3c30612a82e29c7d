import { describe, expect, it } from 'vitest';
import {
  activateDevice,
  adminSuccess,
  callAdmin,
  newFingerprint,
  newLicense,
  unique,
} from '../helpers/contract-calls.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 1);
const KEY = /^(?:[0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{5}$/u;
/** A key whose check group fits, and that nobody was given. */
const UNKNOWN_KEY = '01234-56789-ABCDE-FGHJK-MTS3K';
const clock = sharedClock(START);
const server = sharedServer({ clock });

const at = (ms: number) => new Date(ms).toISOString();
const create = async (input: object) =>
  (await adminSuccess(server, 'createLicense', { holder: 'H', ...input })).license;

describe('a new license', () => {
  it('has every field of the contract', async () => {
    expect(await create({ holder: '  Nordwind  ', email: 'a@b.example' })).toEqual({
      license_id: expect.any(Number) as number,
      license_key: expect.stringMatching(KEY) as string,
      holder: 'Nordwind',
      email: 'a@b.example',
      order_number: null,
      notes: null,
      custom_fields: {},
      product: 'my-product',
      plan: 'standard',
      machine_fingerprint: null,
      issued_at: at(START),
      expires_at: at(START + 365 * DAY_MS),
      state: 'issued',
      grace_ends_at: at(START + 379 * DAY_MS),
      max_activations: 1,
      activation_count: 0,
      features: [],
      first_activated_at: null,
      revoked_at: null,
      revoke_reason: null,
      licensing: 'node_locked',
      seats: 1,
      seat_limits: null,
    });
  });

  it.each([
    ['trial', 14, 0, 1],
    ['standard', 365, 14, 1],
    ['professional', 365, 14, 5],
    ['enterprise', 365, 30, null],
  ])('of plan %s lasts %i days and %i of grace, on %j devices', async (plan, days, grace, devices) => {
    expect(await create({ plan })).toMatchObject({
      expires_at: at(START + days * DAY_MS),
      grace_ends_at: at(START + (days + grace) * DAY_MS),
      max_activations: devices,
    });
  });

  it.each([
    [{ days: 1 }, START + DAY_MS, 'expiring'],
    [{ days: 7 }, START + 7 * DAY_MS, 'issued'],
    [{ days: 36_500 }, START + 36_500 * DAY_MS, 'issued'],
    [{ expires_at: '2031-02-28T23:59:59Z' }, Date.UTC(2031, 1, 28, 23, 59, 59), 'issued'],
    [{ expires_at: '2031-01-01T01:30:00.5+01:30' }, Date.UTC(2031, 0, 1, 0, 0, 0, 500), 'issued'],
    [{ expires_at: '2029-12-25T00:00:00Z' }, Date.UTC(2029, 11, 25), 'in_grace'],
    [{ expires_at: '1999-01-01T00:00:00Z' }, Date.UTC(1999, 0, 1), 'expired'],
  ])('may end otherwise: %j', async (input, expiresAt, state) => {
    expect(await create(input)).toMatchObject({ expires_at: at(expiresAt), state });
  });

  it('may end late, but no timestamp of it leaves the year 9999', async () => {
    const late = await create({ expires_at: '9988-12-31T00:00:00Z', plan: 'enterprise' });
    expect(late.expires_at).toBe('9988-12-31T00:00:00.000Z');
    for (const expires_at of ['9989-06-01T00:00:00Z', '9999-12-01T00:00:00Z', '9999-12-31T23:59:59Z']) {
      const reply = await callAdmin(server, 'createLicense', { holder: 'H', plan: 'enterprise', expires_at });
      if (reply.status === 200) expect(reply.body.license.grace_ends_at).toMatch(/^9\d{3}-/u);
      else expectFailure(reply, 'invalid_request');
    }
  });

  it.each([
    { days: 0 },
    { days: -1 },
    { days: 1.5 },
    { days: 36_501 },
    { days: '30' },
    { days: null },
    { expires_at: '10000-01-01T00:00:00Z' },
    { expires_at: '+010000-01-01T00:00:00Z' },
    { expires_at: '1969-12-31T23:59:59Z' },
    { expires_at: '2031-02-29T00:00:00Z' },
    { expires_at: '2031-01-01T25:00:00Z' },
    { expires_at: '2031-01-01T00:00:00' },
    { expires_at: '2031-01-01' },
    { expires_at: 'tomorrow' },
    { expires_at: '' },
    { expires_at: START },
    { days: 30, expires_at: '2031-01-01T00:00:00Z' },
    { holder: 12 },
    { holder: 'x'.repeat(201) },
    { email: 'nobody' },
    { email: `${'x'.repeat(250)}@b.example` },
    { product: 'With Spaces' },
    { product: '' },
    { product: 'x'.repeat(65) },
    { plan: 'Standard' },
  ])('is refused: %j', async (input) => {
    expectFailure(await callAdmin(server, 'createLicense', { holder: 'H', ...input }), 'invalid_request');
  });

  it('needs a holder', async () => {
    expectFailure(await callAdmin(server, 'createLicense', {}), 'invalid_request');
  });

  it('needs a plan that there is, is not archived and is for its product', async () => {
    const [archived, bound] = [unique('archived'), unique('bound')];
    await server.admin.createPlan({ name: archived, archived: true });
    await server.admin.createPlan({ name: bound, product: 'imager' });
    const attempt = (input: object) => callAdmin(server, 'createLicense', { holder: 'H', ...input });
    expectFailure(await attempt({ plan: 'nonesuch' }), 'plan_not_found');
    expectFailure(await attempt({ plan: archived }), 'plan_not_found');
    expectFailure(await attempt({ plan: bound, product: 'my-product' }), 'product_mismatch');
    expect(await create({ plan: bound })).toMatchObject({ product: 'imager' });
    expect(await create({ product: 'carver' })).toMatchObject({ product: 'carver', plan: 'standard' });
  });
});

describe('a reference to a license', () => {
  it('is its id, or its key however it is typed', async () => {
    const license = await newLicense(server);
    const key = license.license_key;
    for (const ref of [
      String(license.license_id),
      key,
      key.toLowerCase(),
      key.replaceAll('-', ' '),
      ` ${key} `,
    ]) {
      expect((await adminSuccess(server, 'showLicense', { ref })).license).toEqual(license);
    }
  });

  it.each(['0', '999999', '999999999999999', UNKNOWN_KEY])('is not found: %s', async (ref) => {
    expectFailure(await callAdmin(server, 'showLicense', { ref }), 'license_not_found');
  });

  it.each([
    '-1',
    '1.5',
    '1e3',
    '0x1',
    '9007199254740993',
    'null',
    '1 OR 1=1',
    `${UNKNOWN_KEY.slice(0, -1)}0`,
    '',
  ])('is none: "%s"', async (ref) =>
    expectFailure(await callAdmin(server, 'showLicense', { ref }), 'invalid_request'),
  );
});

describe('a revocation', () => {
  it('is permanent, and keeps its first reason', async () => {
    const { license_id } = await newLicense(server);
    const ref = String(license_id);
    const first = await adminSuccess(server, 'revokeLicense', { ref, reason: 'chargeback' });
    expect(first.license).toMatchObject({
      state: 'revoked',
      revoked_at: at(START),
      revoke_reason: 'chargeback',
    });
    clock.advance(DAY_MS);
    const again = await adminSuccess(server, 'revokeLicense', { ref, reason: 'another' });
    expect(again.license).toEqual(first.license);
    clock.advance(1000 * DAY_MS);
    expect((await adminSuccess(server, 'showLicense', { ref })).license.state).toBe('revoked');
    expectFailure(await callAdmin(server, 'renewLicense', { ref }), 'license_revoked', 409);
    expectFailure(
      await callAdmin(server, 'upgradeLicense', { ref, plan: 'enterprise' }),
      'license_revoked',
      409,
    );
    expectFailure(await callAdmin(server, 'issueToken', { license: ref }), 'license_revoked', 409);
  });

  it('reaches a license in any state', async () => {
    const makes: [string, object][] = [
      ['issued', {}],
      ['expiring', { days: 1 }],
      ['in_grace', { expires_at: at(START - DAY_MS) }],
      ['expired', { expires_at: at(START - 100 * DAY_MS) }],
    ];
    for (const [state, input] of makes) {
      const license = await create(input);
      expect(license.state).toBe(state);
      const reply = await adminSuccess(server, 'revokeLicense', { ref: license.license_key });
      expect(reply.license).toMatchObject({ state: 'revoked', revoke_reason: null });
    }
  });

  it('needs a license, and a reason that is one line', async () => {
    expectFailure(await callAdmin(server, 'revokeLicense', { ref: UNKNOWN_KEY }), 'license_not_found');
    const { license_key: ref } = await newLicense(server);
    for (const reason of ['a\nb', '', 'x'.repeat(501), 5]) {
      expectFailure(await callAdmin(server, 'revokeLicense', { ref, reason }), 'invalid_request');
    }
  });
});

describe('the list of licenses', () => {
  const list = async (input: object) => adminSuccess(server, 'listLicenses', { ...input });
  const idsOf = (page: { items: { license_id: number }[] }) => page.items.map(({ license_id }) => license_id);

  it('comes in pages, newest first, unaffected by new licenses', async () => {
    const made: number[] = [];
    const marker = unique('paged');
    for (let time = 0; time < 5; time += 1)
      made.unshift((await newLicense(server, { holder: marker })).license_id);
    const first = await list({ search: marker, limit: 2 });
    await newLicense(server, { holder: marker });
    const second = await list({ search: marker, limit: 2, cursor: first.next_cursor });
    const third = await list({ search: marker, limit: 2, cursor: second.next_cursor });
    expect([idsOf(first), idsOf(second), idsOf(third)]).toEqual([
      made.slice(0, 2),
      made.slice(2, 4),
      made.slice(4),
    ]);
    expect(third.next_cursor).toBeNull();
    const exact = await list({ search: marker, limit: 6 });
    expect([exact.items.length, exact.next_cursor]).toEqual([6, null]);
  });

  it('has 50 to a page unless asked for others', async () => {
    const marker = unique('fifty');
    for (let time = 0; time < 51; time += 1) await newLicense(server, { holder: marker });
    expect((await list({ search: marker })).items).toHaveLength(50);
    expect((await list({ search: marker, limit: 500 })).items).toHaveLength(51);
  });

  it.each([
    '0',
    '-1',
    '501',
    '1e9',
    '99999999999999999999',
    'abc',
    '',
    '1.5',
    'Infinity',
    'NaN',
    '0x10',
    '1e2',
    'null',
  ])('takes no limit of "%s"', async (limit) =>
    expectFailure(await callAdmin(server, 'listLicenses', { limit }), 'invalid_request'),
  );

  it.each(['abc', '-1', '1e3', '', '1.5', '0x10', '9'.repeat(16), '1 OR 1=1', '\u0000', 'x'.repeat(501)])(
    'takes no cursor "%s"',
    async (cursor) => expectFailure(await callAdmin(server, 'listLicenses', { cursor }), 'invalid_request'),
  );

  it('is cut down to a state, which is the one that is shown', async () => {
    const marker = unique('state');
    const make = (input: object = {}) => newLicense(server, { holder: marker, ...input });
    await make();
    await activateDevice(server, await make());
    await make({ days: 3 });
    await make({ expires_at: at(START - DAY_MS) });
    await make({ expires_at: at(START - DAY_MS), plan: 'trial' });
    await server.admin.revokeLicense({ ref: String((await make()).license_id) });
    for (const state of ['issued', 'active', 'expiring', 'in_grace', 'expired', 'revoked']) {
      const { items } = await list({ search: marker, state });
      expect(items.map((item: { state: string }) => item.state)).toEqual([state]);
    }
    expectFailure(await callAdmin(server, 'listLicenses', { state: 'lost' }), 'invalid_request');
  });

  it('draws the line between states where the object draws it, to the millisecond', async () => {
    const marker = unique('edge');
    const license = await newLicense(server, { holder: marker });
    const expiresAt = Date.parse(license.expires_at);
    const graceEnd = Date.parse(license.grace_ends_at);
    const moments: [number, string][] = [
      [expiresAt - 7 * DAY_MS, 'issued'],
      [expiresAt - 7 * DAY_MS + 1, 'expiring'],
      [expiresAt - 1, 'expiring'],
      [expiresAt, 'in_grace'],
      [graceEnd - 1, 'in_grace'],
      [graceEnd, 'expired'],
    ];
    for (const [moment, state] of moments) {
      clock.set(moment);
      const { items } = await list({ search: marker, state });
      expect(items.map((item: { state: string }) => item.state)).toEqual([state]);
    }
  });

  it('is searched by key, device, and parts of holder and email address', async () => {
    const holder = unique('Searchable Holder');
    const license = await newLicense(server, { holder, email: `${unique('mail')}@find.example` });
    const device = await activateDevice(server, license);
    const searches = [
      license.license_key,
      license.license_key.toLowerCase().replaceAll('-', ''),
      license.license_key.slice(3, 14),
      device.activation.machine_fingerprint,
      holder.slice(2).toUpperCase(),
      ` ${holder} `,
      license.email!.toUpperCase(),
    ];
    for (const search of searches)
      expect(idsOf(await list({ search })), search).toContain(license.license_id);
    for (const search of [UNKNOWN_KEY, newFingerprint(), 'nobody has this']) {
      expect(idsOf(await list({ search })), search).toEqual([]);
    }
  });

  it.each([
    ['Élan Forensique', 'Élan Forensique'],
    ['Élan Forensique', 'élan'],
    ['ŽOFIE NOVÁKOVÁ', 'žofie nováková'],
    ['Ивановъ', 'ИВАНОВЪ'],
    ['株式会社', '式会'],
  ])('finds %s by %s', async (holder, search) => {
    const { license_id } = await newLicense(server, { holder });
    expect(idsOf(await list({ search }))).toContain(license_id);
  });

  it.each(['100%', 'a_b', '\\', "O'Neill", '"', '--'])('takes "%s" for what it is', async (sign) => {
    const { license_id } = await newLicense(server, { holder: `x${sign}y` });
    await newLicense(server, { holder: 'x, something quite else, y' });
    expect(idsOf(await list({ search: sign }))).toEqual([license_id]);
  });

  it('finds nothing by a NUL, rather than everything', async () => {
    await newLicense(server);
    const reply = await callAdmin(server, 'listLicenses', { search: '\u0000' });
    expect(reply.body.items ?? []).toEqual([]);
  });
});
