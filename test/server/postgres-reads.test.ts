// Searches and counts on PostgreSQL give what they give on SQLite, with and without each of their indices.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildSearchIndices } from '#server/database/build-search-indices.ts';
import { connect } from '#server/database/connect.ts';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { SCHEMA } from '#server/database/migrate.ts';
import { activateDevice, adminSuccess, unique } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { type ListInput, listedIds, ORDERS } from '../helpers/license-listing.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { readTables, writeOldDatabase } from '../helpers/old-database.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newPostgresDatabase, readingLicenses } from '../helpers/postgres-database.ts';

import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { createRandom, type Random } from '../long/random.ts';

const NAMES = [
  'Nováček',
  'Zürich',
  'GmbH',
  'Łódź',
  '株式会社',
  '李',
  'Élan 100%',
  'a_b',
  'O’Neil',
  'Pizza',
  'Ωmega',
  '𠮷野家',
];
const PLACES = ['oslo', 'praha-12', 'x.y', 'koeln', 'lima', 'zz'];
const LICENSES = 600;
const SEARCHES = roundsOr(12);
const START = Date.UTC(2031, 5, 1);
const masterKey = Buffer.alloc(32, 6).toString('base64');
const clock = createTestClock(START);
const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';
const INDICES = ['licenses_pieces', 'licenses_words', 'licenses_key_part', 'activations_fingerprint_part'];

/** Licenses of random holders, a few of them with devices. */
async function plant(server: TestServer, random: Random): Promise<void> {
  const rows = Array.from({ length: LICENSES }, (_, index) => {
    const words = Array.from({ length: 1 + random.integer(3) }, () => random.pick(NAMES));
    const email = random.integer(3) === 0 ? '' : `p${random.integer(90)}@${random.pick(PLACES)}.example`;
    return [
      words.join(' '),
      email,
      random.pick(['standard', 'trial', 'enterprise']),
      index % 4 ? 'one' : 'two',
    ].join(',');
  });
  const text = ['holder,email,plan,product', ...rows].join('\n');
  const { import_id } = await server.admin.uploadImport({ file: new Blob([text]) });
  const mapping = { holder: 'holder', email: 'email', plan: 'plan', product: 'product' };
  expect(await server.admin.runImport({ import_id, mapping })).toMatchObject({ state: 'done' });
  const { items } = await server.admin.listLicenses({ limit: 30 });
  for (const license of items) await activateDevice(server, license);
}

/** As people type: parts in any order and case, zeros as O, ones as I or L, with or without accents. */
function searchFor(
  random: Random,
  { holder, email, license_key: key }: LicenseRecord,
  fingerprint: string | undefined,
) {
  const partOf = (text: string, least: number, most: number) => {
    const characters = [...text];
    const length = least + random.integer(most - least + 1);
    return characters.slice(random.integer(characters.length)).slice(0, length).join('');
  };
  const word = () => {
    const text = partOf(random.pick([holder, holder, email ?? holder]), 1, 7);
    return random.pick([text, text.toUpperCase(), text.normalize('NFD').replaceAll(/\p{M}/gu, '')]);
  };
  const mistyped = (part: string) =>
    part
      .toLowerCase()
      .replaceAll('0', 'o')
      .replaceAll('1', () => random.pick(['i', 'l']));
  switch (random.integer(6)) {
    case 0:
      return mistyped(partOf(key, 5, 29));
    case 1:
      return partOf((fingerprint ?? `sha256:${'ab'.repeat(32)}`).slice(7), 6, 12);
    case 2:
      return `${word()} ${mistyped(partOf(key, 5, 12))}`;
    case 3:
      return [word(), word(), random.pick(PLACES)].join(' ');
    default:
      return [word(), ...(random.integer(2) ? [word()] : [])].join(' ');
  }
}

describe.skipIf(!hasPostgres)(`lists on PostgreSQL${why}`, () => {
  let sqlite: TestServer;
  let postgres: TestServer;
  let url: string;
  const random = createRandom(20_310_601, 0);

  beforeAll(async () => {
    sqlite = await startTestServer({ clock, masterKey });
    await plant(sqlite, random);
    url = await newPostgresDatabase();
    const tables = await readTables(join(sqlite.dataDir, 'license-desk.db'));
    await writeOldDatabase({ url, file: '' }, SCHEMA, tables);
    postgres = await startTestServer({ clock, masterKey, flags: { 'database-url': url } });
  });
  afterAll(async () => {
    await postgres.stop();
    await sqlite.stop();
  });

  async function randomLists(): Promise<ListInput[]> {
    const { items } = await sqlite.admin.listLicenses({ limit: 500 });
    const devices = await selectRows(
      sqlite.dataDir,
      'SELECT machine_fingerprint AS fingerprint FROM activations',
    );
    return Array.from({ length: SEARCHES }, () => ({
      search:
        searchFor(
          random,
          random.pick(items),
          random.pick(devices as { fingerprint: string }[]).fingerprint,
        ).trim() || 'a',
      ...random.pick([{}, {}, { plan: 'trial' }, { product: 'two' }, { state: 'active' }]),
      ...random.pick([{}, {}, ...ORDERS]),
    }));
  }

  async function expectSameLists(): Promise<void> {
    for (const input of await randomLists()) {
      const what = JSON.stringify(input);
      expect(await listedIds(postgres, input, 90), what).toEqual(await listedIds(sqlite, input, 90));
      expect(await adminSuccess(postgres, 'countLicenses', { ...input }), what).toEqual(
        await adminSuccess(sqlite, 'countLicenses', { ...input }),
      );
    }
  }

  const usable = async () =>
    (
      await selectRows(
        url,
        `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
         WHERE i.indisvalid AND c.relname IN (${INDICES.map((name) => `'${name}'`).join(', ')})`,
      )
    ).map(({ name }) => name as string);

  it('finds the same by any search, with all indices', async () => {
    expect((await usable()).toSorted()).toEqual(INDICES.toSorted());
    await expectSameLists();
  });

  it('finds the same without the extension pg_trgm, and then without any index', async () => {
    await writeRows(url, 'DROP EXTENSION pg_trgm CASCADE');
    expect(await usable()).toEqual(['licenses_pieces']);
    await expectSameLists();
    await writeRows(url, 'DROP INDEX licenses_pieces');
    await expectSameLists();
  });

  it('answers and warns if the user may not build the indices', async () => {
    const user = unique('reader').replaceAll('-', '_');
    await writeRows(
      url,
      `CREATE ROLE ${user} LOGIN`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${user}`,
      `GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${user}`,
    );
    const limited = new URL(url);
    limited.username = user;
    const server = await startTestServer({ clock, masterKey, flags: { 'database-url': limited.href } });
    try {
      await eventually(async () => {
        const log = await readFile(join(server.dataDir, 'logs', 'license-desk.1.log'), 'utf8');
        expect(log).toContain('has no extension pg_trgm');
        expect(log).toContain('an index could not be built');
      });
      expect(await usable()).toEqual([]);
      const input = { search: 'pizza' };
      expect(await listedIds(server, input, 90)).toEqual(await listedIds(sqlite, input, 90));
    } finally {
      await server.stop();
    }
  });

  it('builds missing indices again after a start, also one whose build was interrupted', async () => {
    await writeRows(
      url,
      `CREATE INDEX licenses_pieces ON licenses USING gin ((search_pieces(search_text)) COLLATE "C")`,
      "UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = CAST('licenses_pieces' AS regclass)",
    );
    await postgres.stop();
    postgres = await startTestServer({ clock, masterKey, flags: { 'database-url': url } });
    await eventually(async () => expect((await usable()).toSorted()).toEqual(INDICES.toSorted()));
    await expectSameLists();
  });

  it('tries again to build an index after a failure', async () => {
    await writeRows(url, 'DROP INDEX licenses_pieces');
    const other = await connect({ url, file: '' });
    onTestFinished(() => other.close());
    const reading = await readingLicenses(other);
    const building = `FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
      AND query ~ '^(CREATE|DROP) INDEX CONCURRENTLY'`;
    const isBuilding = async () => (await selectRows(url, `SELECT 1 ${building}`)).length === 1;
    const warnings: string[] = [];
    const log = { info: () => {}, warn: (_: object, message: string) => void warnings.push(message) };
    const build = buildSearchIndices(other, log, 50);
    onTestFinished(() => build.pause());
    await eventually(async () => expect(await isBuilding()).toBe(true));
    await selectRows(url, `SELECT pg_terminate_backend(pid) ${building}`);
    await eventually(() => expect(warnings).toEqual([expect.stringContaining('could not be built')]));
    await eventually(async () => expect(await isBuilding()).toBe(true));
    await build.pause();
    await eventually(async () => expect(await isBuilding()).toBe(false));
    build.resume();
    await eventually(async () => expect(await isBuilding()).toBe(true));
    await reading.rollback();
    await eventually(async () => expect((await usable()).toSorted()).toEqual(INDICES.toSorted()));
    expect(warnings).toHaveLength(1);
  });

  it('shows the same numbers, and keeps them through changes that are made at once, fail or are removed', async () => {
    const figures = async (server: TestServer) => {
      const { licenses, activations, tokens } = await adminSuccess(server, 'stats', {});
      const { licenses: one, activations: ofOne } = await adminSuccess(server, 'stats', { product: 'one' });
      const { licenses: overview } = await adminSuccess(server, 'overview', {});
      return { licenses, activations, tokens, one, ofOne, overview };
    };
    expect(await figures(postgres)).toEqual(await figures(sqlite));

    const product = unique('kept');
    const create = () => adminSuccess(postgres, 'createLicense', { holder: 'Kept', plan: 'trial', product });
    const made = await Promise.all(Array.from({ length: 20 }, create));
    const [first, second] = made.map(({ license }) => license as LicenseRecord);
    await adminSuccess(postgres, 'upgradeLicense', { ref: first!.license_key, plan: 'enterprise' });
    await activateDevice(postgres, second!);
    await postgres.admin.issueToken({ license: second!.license_key, product });
    await writeRows(
      url,
      'BEGIN; DELETE FROM authorization_tokens; DELETE FROM activations; ROLLBACK',
      'DELETE FROM authorization_tokens WHERE id = (SELECT max(id) FROM authorization_tokens)',
      `DELETE FROM licenses WHERE id = ${made.at(-1)!.license.license_id}`,
    );
    const { licenses } = await adminSuccess(postgres, 'stats', { product });
    expect(licenses).toMatchObject({ total: 19, by_plan: { trial: 18, enterprise: 1 } });
    const kept = await selectRows(
      url,
      `SELECT table_name, product, plan_id, CAST(sum(count) AS INTEGER) AS count FROM kept_counts
       GROUP BY table_name, product, plan_id HAVING sum(count) <> 0 ORDER BY 1, 2, 3`,
    );
    const counted = await selectRows(
      url,
      `SELECT 'activations' AS table_name, '' AS product, 0 AS plan_id, CAST(count(*) AS INTEGER) AS count FROM activations
       UNION ALL SELECT 'authorization_tokens', '', 0, count(*) FROM authorization_tokens
       UNION ALL SELECT 'licenses', product, plan_id, count(*) FROM licenses GROUP BY product, plan_id ORDER BY 1, 2, 3`,
    );
    const plain = (rows: { plan_id: number; count: number }[]) =>
      rows
        .filter(({ count }) => Number(count) > 0)
        .map((row) => ({ ...row, plan_id: Number(row.plan_id), count: Number(row.count) }));
    expect(plain(kept)).toEqual(plain(counted));
  });

  it('counts what an earlier version has left, and what replaces it', async () => {
    const old = await newPostgresDatabase();
    const tables = await readTables(join(sqlite.dataDir, 'license-desk.db'));
    await writeOldDatabase({ url: old, file: '' }, '0025-figures', tables);
    const server = await startTestServer({ clock, masterKey, flags: { 'database-url': old } });
    const numbers = async (of: TestServer) => {
      const { licenses, activations } = await adminSuccess(of, 'stats', {});
      return { licenses, activations };
    };
    try {
      expect(await numbers(server)).toEqual(await numbers(sqlite));
      await writeRows(
        old,
        'CREATE TEMP TABLE before AS SELECT * FROM activations; TRUNCATE activations; INSERT INTO activations SELECT * FROM before',
      );
      expect(await numbers(server)).toEqual(await numbers(sqlite));
    } finally {
      await server.stop();
    }
  });
});
