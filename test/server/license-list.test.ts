import { beforeAll, describe, expect, it } from 'vitest';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { adminSuccess, callAdmin, newLicense, unique } from '../helpers/contract-calls.ts';
import { allLists, expectedIds, listedIds, ORDERS, plantLicenses } from '../helpers/license-listing.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2031, 5, 1);
const clock = sharedClock(START);
const server = sharedServer({ clock });
const list = async (input: object) => adminSuccess(server, 'listLicenses', { ...input });
const count = async (input: object) => adminSuccess(server, 'countLicenses', { ...input });
const idsOf = (page: { items: { license_id: number }[] }) => page.items.map(({ license_id }) => license_id);

describe('a list of licenses', () => {
  let planted: LicenseRecord[];
  let marker: string;
  beforeAll(async () => {
    ({ licenses: planted, marker } = await plantLicenses(server, clock));
    await newLicense(server, { holder: 'somebody else' });
  });

  it('applies any combination of filters, as does the count', async () => {
    expect(new Set(planted.map(({ state }) => state))).toHaveLength(6);
    for (const input of allLists([marker, `zofie ${marker}`])) {
      const expected = expectedIds(planted, input, START);
      expect(await listedIds(server, input, 500), JSON.stringify(input)).toEqual(expected);
      expect(await count(input), JSON.stringify(input)).toMatchObject({
        count: expected.length,
        exact: true,
      });
    }
  });

  it.each(ORDERS)('comes in pages that miss and repeat nothing: $sort $order', async (order) => {
    for (const limit of [1, 7]) {
      const input = { ...order, search: marker };
      expect(await listedIds(server, input, limit)).toEqual(expectedIds(planted, input, START));
    }
    const all = await listedIds(server, { ...order, state: 'active' }, 3);
    expect(all).toEqual(expectedIds(planted, { ...order, state: 'active' }, START));
  });

  it('begins with the newest, the first to end, the first by name', async () => {
    for (const sort of ['created', 'expires', 'holder'] as const) {
      expect(await listedIds(server, { sort, search: marker }, 500)).toEqual(
        expectedIds(planted, { sort, search: marker }, START),
      );
    }
  });

  it('takes a cursor for the order that gave it out only', async () => {
    const given = await Promise.all(
      ORDERS.map(async (order) => (await list({ ...order, limit: 1 })).next_cursor as string),
    );
    for (const [index, cursor] of given.entries()) {
      for (const [other, order] of ORDERS.entries()) {
        const reply = await callAdmin(server, 'listLicenses', { ...order, cursor });
        if (index === other) expect(reply.status).toBe(200);
        else expectFailure(reply, 'invalid_request');
      }
    }
    const forged = [
      'expires.asc.5',
      'created.desc.5.6',
      'holder.asc.x',
      'created.desc.1 OR 1=1',
      'expires.asc.5.',
    ];
    for (const text of forged) {
      const cursor = Buffer.from(text).toString('base64url');
      const [sort, order] = text.split('.');
      expectFailure(await callAdmin(server, 'listLicenses', { sort, order, cursor }), 'invalid_request');
    }
  });

  it('continues in place although its last license has been renewed', async () => {
    const holder = unique('moving');
    const made: number[] = [];
    for (const days of [10, 20, 30]) made.push((await newLicense(server, { holder, days })).license_id);
    const input = { search: holder, sort: 'expires', limit: 1 };
    const first = await list(input);
    await server.admin.renewLicense({ ref: String(made[0]), days: 100 });
    const second = await list({ ...input, cursor: first.next_cursor });
    expect([idsOf(first), idsOf(second)]).toEqual([[made[0]], [made[1]]]);
  });

  it('knows no plan and no product that nothing is of', async () => {
    expect((await list({ plan: 'nonesuch' })).items).toEqual([]);
    expect((await list({ product: 'nonesuch' })).items).toEqual([]);
    expect(await count({ plan: 'nonesuch' })).toMatchObject({ count: 0, exact: true });
  });

  it.each([
    { plan: 'With Spaces' },
    { product: '' },
    { expires_within_days: 0 },
    { expires_within_days: 3651 },
    { expires_within_days: '1.5' },
    { expires_within_days: 'soon' },
    { sort: 'id' },
    { sort: 'expires_at; DROP TABLE licenses' },
    { order: 'up' },
    { search: 'x'.repeat(201) },
  ])('is refused: %j', async (input) => {
    expectFailure(await callAdmin(server, 'listLicenses', input), 'invalid_request');
    if (!('sort' in input || 'order' in input))
      expectFailure(await callAdmin(server, 'countLicenses', input), 'invalid_request');
  });

  it('knows the state of licenses whose plan was given another grace period', async () => {
    const plan = unique('grace');
    await server.admin.createPlan({ name: plan, grace_days: 100 });
    const license = await newLicense(server, {
      plan,
      expires_at: new Date(START - 50 * DAY_MS).toISOString(),
    });
    expect(idsOf(await list({ plan, state: 'in_grace' }))).toEqual([license.license_id]);
    await server.admin.updatePlan({ name: plan, grace_days: 50 });
    expect(idsOf(await list({ plan, state: 'in_grace' }))).toEqual([]);
    expect(idsOf(await list({ plan, state: 'expired' }))).toEqual([license.license_id]);
  });
});

describe('a search', () => {
  it('finds a license once, however many of its texts match', async () => {
    const holder = unique('abcdef twice');
    const license = await newLicense(server, { holder, email: 'abcdef@abcdef.example', plan: 'enterprise' });
    for (const digits of ['1', '2']) {
      const machine_fingerprint = `sha256:${'abcdef'.repeat(10)}000${digits}`;
      await server.post('/activate/', { license_key: license.license_key, machine_fingerprint });
    }
    expect(idsOf(await list({ search: 'abcdef' }))).toEqual([license.license_id]);
    expect(await count({ search: 'abcdef' })).toMatchObject({ count: 1 });
    expect(idsOf(await list({ search: 'ABCDEFABCDEF' }))).toEqual([license.license_id]);
  });

  it('comes in pages in which those found by their words and those found by a device are one list', async () => {
    const digits = 'fade00c0ffee';
    const ids: number[] = [];
    for (const number of [1, 2, 3, 4, 5, 6]) {
      const isNamed = number % 2 === 0;
      const holder = isNamed ? unique(`${digits} works`) : unique('by device');
      const { license_id, license_key } = await newLicense(server, { holder });
      const machine_fingerprint = `sha256:${digits}${String(number).padStart(52, '0')}`;
      if (!isNamed || number === 6) await server.post('/activate/', { license_key, machine_fingerprint });
      ids.push(license_id);
    }
    for (const limit of [1, 2, 4]) {
      const upward = { search: digits, sort: 'created', order: 'asc' } as const;
      expect(await listedIds(server, upward, limit)).toEqual(ids);
      expect(await listedIds(server, { search: digits }, limit)).toEqual(ids.toReversed());
    }
    expect(await count({ search: digits })).toMatchObject({ count: ids.length });
  });

  it('finds any part of a fingerprint from six digits on, of a released device too', async () => {
    const license = await newLicense(server, { plan: 'enterprise' });
    const digits = '90f3b1c85d2e47a6f0b9c1d8e3a5724680fdb97531eca86420d1c3b5a7980f6e';
    const machine_fingerprint = `sha256:${digits}`;
    await server.post('/activate/', { license_key: license.license_key, machine_fingerprint });
    await server.admin.releaseDevice({ ref: license.license_key, machine_fingerprint });
    for (let start = 0; start <= digits.length - 6; start += 1) {
      for (const end of [start + 6, start + 7, start + 9, digits.length]) {
        const search = digits.slice(start, end);
        if (search.length >= 6) expect(idsOf(await list({ search })), search).toEqual([license.license_id]);
      }
    }
    for (const search of [
      machine_fingerprint,
      machine_fingerprint.slice(0, 20),
      digits.slice(9, 20).toUpperCase(),
    ])
      expect(idsOf(await list({ search })), search).toEqual([license.license_id]);
    for (const search of [`${digits.slice(0, 10)}0`, digits.slice(0, 5)])
      expect(idsOf(await list({ search })), search).toEqual([]);
  });

  it('finds any part of a key from five characters on, with hyphens or without', async () => {
    const { license_id, license_key } = await newLicense(server);
    const characters = license_key.replaceAll('-', '');
    for (let start = 0; start <= 20; start += 1)
      expect(idsOf(await list({ search: characters.slice(start, start + 5) }))).toContain(license_id);
    for (const search of [
      license_key.slice(0, 5),
      license_key.slice(3, 14),
      characters.slice(7, 20).toLowerCase(),
    ])
      expect(idsOf(await list({ search })), search).toEqual([license_id]);
  });

  it('reads part of a key as people type it', async () => {
    // A key with each of the characters that people mistake.
    let license: LicenseRecord;
    do license = await newLicense(server);
    while (!/^(?=.*0)(?=.*1)/u.test(license.license_key.slice(0, 11)));
    const { license_id, license_key } = license;
    const half = license_key.slice(0, 11);
    for (const search of [
      half.replaceAll('0', 'o').replaceAll('1', 'l'),
      half.replaceAll('0', 'O').replaceAll('1', 'I').replaceAll('-', ' '),
      half.replaceAll('-', ' – '),
      half.split('').join(' '),
    ])
      expect(idsOf(await list({ search })), search).toEqual([license_id]);
  });

  it('finds words in any order, in the holder and the email address, beside part of a key', async () => {
    const marker = unique('words');
    const license = await newLicense(server, {
      holder: `Nováček ${marker} Works`,
      email: 'buy@fjord.example',
    });
    await newLicense(server, { holder: `Novotny ${marker} Works` });
    const key = license.license_key;
    for (const search of [
      `works ${marker} novacek`,
      `fjord  ${marker}`,
      `nova ${marker} fjo`,
      `${marker} ex vá`,
    ]) {
      expect(idsOf(await list({ search })), search).toEqual([license.license_id]);
      expect(await count({ search })).toMatchObject({ count: 1 });
    }
    if (/\d/u.test(key.slice(0, 5)))
      expect(idsOf(await list({ search: `novacek ${key.slice(0, 5)}` }))).toEqual([license.license_id]);
    expect(idsOf(await list({ search: `nobody ${key.slice(6, 11)}` }))).toEqual([]);
    expect(idsOf(await list({ search: `${marker} nobody` }))).toEqual([]);
  });

  it('finds the order number, also after an edit, and no longer once it is cleared', async () => {
    const order = unique('SO-Ü');
    const { license_id, license_key } = await newLicense(server, {
      holder: 'Nordlicht',
      order_number: order,
    });
    const folded = order.toLowerCase().replace('ü', 'u');
    for (const search of [order, folded, `${folded.slice(2)} nordl`])
      expect(idsOf(await list({ search })), search).toEqual([license_id]);
    const edit = (order_number: string | null) =>
      server.admin.updateLicense({ ref: license_key, order_number });
    await edit(`${order}-2`);
    expect(idsOf(await list({ search: `${order}-2` }))).toEqual([license_id]);
    await edit(null);
    expect(idsOf(await list({ search: order }))).toEqual([]);
  });

  it.each([
    'ab',
    'ba',
    'ß',
    'x',
    '会',
    '社',
    '""',
    '* ',
    'NOT',
    'a AND b',
    'words:a',
    '^a',
    '(',
    '\u{1F511}',
    '\u{1F511}x',
  ])('takes "%s" for what it is, wherever it stands', async (sign) => {
    const marker = unique('short');
    const made: number[] = [];
    for (const holder of [`${sign}${marker}`, `${marker}${sign}`, `${marker}${sign}${marker}`])
      made.push((await newLicense(server, { holder })).license_id);
    const other = await newLicense(server, { holder: marker.replace('short', '-----') });
    const found = idsOf(await list({ search: sign, limit: 500 }));
    const trimmed = sign.trim();
    for (const id of made) expect(found, trimmed).toContain(id);
    if (!'--'.includes(trimmed)) expect(found).not.toContain(other.license_id);
  });
});
