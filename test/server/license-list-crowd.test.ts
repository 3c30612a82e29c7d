// Lists where so many licenses match that they are passed over in the order of the list, rather than looked up and sorted.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminSuccess, newLicense } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { listedIds, ORDERS } from '../helpers/license-listing.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2031, 5, 1);
const CROWD = 41_000;
const clock = sharedClock(START);
const server = sharedServer({ clock });
const count = async (input: object) => adminSuccess(server, 'countLicenses', { ...input });

/** The first of each order, among the crowd of those that match. */
async function firstIds(orderBy: string, condition = '1 = 1'): Promise<number[]> {
  const sql = `SELECT id FROM licenses WHERE search_text LIKE '%abcdef%' AND ${condition} ORDER BY ${orderBy} LIMIT 5`;
  return (await selectRows(server.dataDir, sql)).map(({ id }: { id: number }) => id);
}

const SQL_ORDER = { created: 'id', expires: 'expires_at, id', holder: 'search_text, id' };

describe('among a crowd of licenses', () => {
  let outsider: number;
  beforeAll(async () => {
    await writeRows(
      server.dataDir,
      `INSERT INTO licenses (license_key, holder, search_text, product, plan_id, issued_at, expires_at, revoked_at)
       WITH RECURSIVE crowd(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM crowd WHERE n < ${CROWD})
       SELECT 'ZZZZZ-' || n, 'Abcdef', (n * 7919 % 1000) || ' abcdef', 'crowded', 1 + n % 2, ${START},
         ${START} + (n * 104729 % 100) * ${DAY_MS}, CASE WHEN n % 1000 = 0 THEN ${START} END FROM crowd`,
    );
    const license = await newLicense(server, { holder: 'outsider', product: 'crowded', days: 50 });
    outsider = license.license_id;
    const machine_fingerprint = `sha256:${'0'.repeat(50)}abcdef${'0'.repeat(8)}`;
    await server.post('/activate/', { license_key: license.license_key, machine_fingerprint });
  });

  it.each(ORDERS)('the first ones are found in order: $sort $order', async ({ sort, order }) => {
    const sqlOrder = SQL_ORDER[sort!].replaceAll(/(?=,|$)/gu, ` ${order}`);
    for (const [input, condition] of [
      [{}, '1 = 1'],
      [{ state: 'revoked' }, 'revoked_at IS NOT NULL'],
      [
        { plan: 'standard', expires_within_days: 3 },
        `plan_id = 2 AND expires_at BETWEEN ${START + 1} AND ${START + 3 * DAY_MS}`,
      ],
    ] as const) {
      const page = await adminSuccess(server, 'listLicenses', {
        ...input,
        sort,
        order,
        search: 'abcdef',
        limit: 6,
      });
      const found = page.items.map(({ license_id }: { license_id: number }) => license_id);
      expect(found.filter((id: number) => id !== outsider).slice(0, 5), JSON.stringify(input)).toEqual(
        await firstIds(sqlOrder, condition),
      );
    }
  });

  it('finds a license by its device although all others have that name', async () => {
    const [newest] = (await adminSuccess(server, 'listLicenses', { search: 'abcdef', limit: 1 })).items;
    expect(newest.license_id).toBe(outsider);
    const issued = await listedIds(server, { search: 'abcdef', state: 'active', sort: 'expires' }, 500);
    expect(issued).toEqual([outsider]);
  });

  it('numbers end at ten thousand', async () => {
    for (const search of ['abcdef', 'abcd', 'de', 'e']) {
      expect(await count({ search }), search).toMatchObject({ count: 10_000, exact: false });
    }
    expect(await count({})).toMatchObject({ count: 10_000, exact: false });
    expect(await count({ search: 'abcdef', state: 'revoked' })).toMatchObject({ count: 41, exact: true });
    expect(await count({ search: 'outsider' })).toMatchObject({ count: 1, exact: true });
    expect(await count({ search: 'ou' })).toMatchObject({ count: 1, exact: true });
    await writeRows(server.dataDir, `UPDATE licenses SET product = 'ten' WHERE id <= 10000`);
    expect(await count({ product: 'ten' })).toMatchObject({ count: 10_000, exact: true });
    await writeRows(server.dataDir, `UPDATE licenses SET product = 'ten' WHERE id = 10001`);
    expect(await count({ product: 'ten' })).toMatchObject({ count: 10_000, exact: false });
  });
});
