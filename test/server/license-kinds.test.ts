// The number of licenses of each plan and product, which SQLite keeps and PostgreSQL counts, against the licenses themselves.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callAdmin, newLicense } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { newDataDir, startTestServer, type TestServer } from '../helpers/test-server.ts';

const PLANS = ['trial', 'standard', 'professional', 'enterprise'];
const PRODUCTS = ['editor', 'editor-pro', 'constructor'];

interface Place {
  where: string;
  server: TestServer;
}

const PLACES = {
  async SQLite(): Promise<Place> {
    const where = await newDataDir();
    return { where, server: await startTestServer({ dataDir: where }) };
  },
  async PostgreSQL(): Promise<Place> {
    const where = await newMigratedPostgresDatabase();
    return { where, server: await startTestServer({ flags: { 'database-url': where } }) };
  },
};

/** Counts rows one by one. */
async function countRows(where: string, product?: string) {
  const rows = await selectRows(
    where,
    'SELECT l.product AS product, p.name AS plan FROM licenses l JOIN plans p ON p.id = l.plan_id',
  );
  const by = (column: 'product' | 'plan') => {
    const counts = new Map<string, number>();
    for (const row of rows)
      if (product === undefined || row.product === product)
        counts.set(row[column], (counts.get(row[column]) ?? 0) + 1);
    return Object.fromEntries(counts);
  };
  return { by_plan: by('plan'), by_product: by('product') };
}

async function expectCounts({ where, server }: Place): Promise<void> {
  for (const product of [undefined, ...PRODUCTS, 'unknown']) {
    const { licenses } = await server.admin.stats({ product });
    expect(licenses, product).toMatchObject(await countRows(where, product));
    const sum = Object.values(licenses.by_plan).reduce((total, count) => total + count, 0);
    expect(sum, product).toBe(licenses.total);
  }
}

describe.each(['SQLite', 'PostgreSQL'] as const)('licenses of each kind on %s', (name) => {
  describe.skipIf(name === 'PostgreSQL' && !hasPostgres)('', () => {
    let place: Place;
    beforeAll(async () => {
      place = await PLACES[name]();
    });
    afterAll(() => place.server.stop());

    it('are counted while licenses are created, refused, upgraded and revoked together', async () => {
      const { server } = place;
      const create = (index: number) =>
        newLicense(server, { product: PRODUCTS[index % PRODUCTS.length], plan: PLANS[index % PLANS.length] });
      const first = await Promise.all(Array.from({ length: 40 }, (_, index) => create(index)));
      await expectCounts(place);

      const below = first.filter(({ plan }) => plan !== 'enterprise');
      await Promise.all([
        ...Array.from({ length: 40 }, (_, index) => create(index * 7)),
        ...below.flatMap(({ license_key: ref, plan }, index) => {
          const higher = PLANS.slice(PLANS.indexOf(plan) + 1);
          const target = higher[index % higher.length] ?? 'enterprise';
          // The second of two equal upgrades is refused, and must count nothing.
          return [1, 2].map(() => server.admin.upgradeLicense({ ref, plan: target }).catch(() => null));
        }),
        ...first
          .filter(({ plan }) => plan === 'enterprise')
          .map(({ license_key: ref }) => server.admin.revokeLicense({ ref })),
      ]);
      await expectCounts(place);
      expectFailure(
        await callAdmin(server, 'createLicense', { holder: 'X', plan: 'unknown' }),
        'plan_not_found',
      );
      await expectCounts(place);
    });

    it('are counted after their last one is gone', async () => {
      const { where, server } = place;
      const { license_id } = await newLicense(server, { product: 'short-lived' });
      expect((await server.admin.stats({})).licenses.by_product).toMatchObject({ 'short-lived': 1 });
      await writeRows(where, `UPDATE licenses SET product = 'renamed' WHERE id = ${license_id}`);
      const { by_product: renamed } = (await server.admin.stats({})).licenses;
      expect(renamed).toMatchObject({ renamed: 1 });
      expect(renamed).not.toHaveProperty('short-lived');
      await writeRows(
        where,
        `DELETE FROM events WHERE license_id = ${license_id}`,
        `DELETE FROM licenses WHERE id = ${license_id}`,
      );
      expect((await server.admin.stats({})).licenses.by_product).not.toHaveProperty('renamed');
      await expectCounts(place);
    });
  });
});
