import { describe, expect, it } from 'vitest';
import { adminSuccess, callAdmin, newLicense } from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { eventNames } from '../helpers/outbox.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2032, 0, 1);
const NOBODY = 999_999;
const clock = sharedClock(START);
const server = sharedServer({ clock });

const show = async (id: number) => (await server.admin.showLicense({ ref: String(id) })).license;
const newIds = async (count: number) => {
  const ids: number[] = [];
  for (let made = 0; made < count; made += 1) ids.push((await newLicense(server, { days: 10 })).license_id);
  return ids;
};

describe('many licenses', () => {
  it('are renewed, but for those that cannot be, and each has its event and its audit entry', async () => {
    const [first, revoked, last] = (await newIds(3)) as [number, number, number];
    await server.admin.revokeLicense({ ref: String(revoked) });
    const reply = await adminSuccess(server, 'renewLicenses', {
      license_ids: [last, NOBODY, revoked, first],
      days: 30,
    });
    expect(reply.done).toEqual([last, first]);
    expect(reply.failed).toEqual([
      { license_id: NOBODY, error_code: 'license_not_found', message: expect.any(String) as string },
      { license_id: revoked, error_code: 'license_revoked', message: expect.any(String) as string },
    ]);
    for (const id of [first, last]) {
      expect(Date.parse((await show(id)).expires_at)).toBe(START + 40 * DAY_MS);
      expect(await eventNames(server.dataDir, id)).toEqual(['license.renewed']);
      const { items } = await server.admin.listAudit({ subject: `license:${id}` });
      expect(items.map(({ action }) => action)).toEqual(['license.renewed', 'license.created']);
    }
    expect(await eventNames(server.dataDir, revoked)).toEqual(['license.revoked']);
  });

  it("are renewed by their plans' durations unless days are given", async () => {
    const ids = await newIds(2);
    await adminSuccess(server, 'renewLicenses', { license_ids: ids });
    for (const id of ids) expect(Date.parse((await show(id)).expires_at)).toBe(START + 375 * DAY_MS);
  });

  it('are revoked with one reason; one that is already revoked stays unchanged', async () => {
    const [fresh, before] = (await newIds(2)) as [number, number];
    await server.admin.revokeLicense({ ref: String(before), reason: 'earlier' });
    const license_ids = [fresh, before];
    expect(await adminSuccess(server, 'revokeLicenses', { license_ids, reason: 'bankrupt' })).toMatchObject({
      done: license_ids,
      failed: [],
    });
    expect(await show(fresh)).toMatchObject({ state: 'revoked', revoke_reason: 'bankrupt' });
    expect(await show(before)).toMatchObject({ state: 'revoked', revoke_reason: 'earlier' });
    expect(await eventNames(server.dataDir, before)).toEqual(['license.revoked']);
  });

  it('are changed once each, however often they are named', async () => {
    const [id] = (await newIds(1)) as [number];
    const reply = await adminSuccess(server, 'renewLicenses', { license_ids: [id, id, id], days: 1 });
    expect(reply.done).toEqual([id]);
    expect(Date.parse((await show(id)).expires_at)).toBe(START + 11 * DAY_MS);
  });

  it('are all reported, even after an error halfway', async () => {
    const [first, broken, last] = (await newIds(3)) as [number, number, number];
    await writeRows(
      server.dataDir,
      `CREATE TRIGGER breaks BEFORE UPDATE ON licenses WHEN new.id = ${broken} BEGIN SELECT RAISE(ABORT, 'broken'); END`,
    );
    try {
      const reply = await adminSuccess(server, 'revokeLicenses', { license_ids: [first, broken, last] });
      expect(reply).toMatchObject({
        done: [first, last],
        failed: [{ license_id: broken, error_code: 'internal_error' }],
      });
      expect(JSON.stringify(reply)).not.toContain('RAISE');
    } finally {
      await writeRows(server.dataDir, 'DROP TRIGGER breaks');
    }
    expect(await show(broken)).toMatchObject({ state: 'issued' });
    expect(await eventNames(server.dataDir, broken)).toEqual([]);
  });

  it('are given twice at the same moment, and changed once', async () => {
    const license_ids = await newIds(5);
    const replies = await Promise.all(
      [1, 2, 3].map(() => adminSuccess(server, 'revokeLicenses', { license_ids })),
    );
    for (const reply of replies) expect(reply.done).toEqual(license_ids);
    for (const id of license_ids) expect(await eventNames(server.dataDir, id)).toEqual(['license.revoked']);
  });

  it.each([
    {},
    { license_ids: [] },
    { license_ids: 5 },
    { license_ids: ['1'] },
    { license_ids: [0] },
    { license_ids: [1.5] },
    { license_ids: Array.from({ length: 101 }, (_, index) => index + 1) },
    { license_ids: [1], days: 0, reason: '' },
  ])('are refused before any is changed: %j', async (input) => {
    expectFailure(await callAdmin(server, 'renewLicenses', input), 'invalid_request');
    expectFailure(await callAdmin(server, 'revokeLicenses', input), 'invalid_request');
  });
});
