// Notices of licenses whose plan gets a shorter grace period at the same moment: `license.expired` comes at the new end.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect, type Database } from '#server/database/connect.ts';
import { newLicense, unique } from '../helpers/contract-calls.ts';
import { eventually } from '../helpers/eventually.ts';
import { eventNames } from '../helpers/outbox.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import {
  countLockWaiters,
  lastingTransaction,
  newMigratedPostgresDatabase,
  PATIENT,
} from '../helpers/postgres-database.ts';
import { runScan } from '../helpers/scan.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const DAY_MS = 86_400_000;
const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`on PostgreSQL, a shorter grace period${why}`, () => {
  /** Of the scans, ahead of the server's. */
  const clock = createTestClock();
  let url: string;
  let server: TestServer;
  let sequelize: Database;
  /** From one test to the next, the clock moves on. */
  let daysBefore = 0;
  beforeEach(() => void (daysBefore += 10));

  beforeAll(async () => {
    url = (await newMigratedPostgresDatabase()) + PATIENT;
    server = await startTestServer({ flags: { 'database-url': url } });
    sequelize = await connect({ url, file: '' });
  });
  afterAll(async () => {
    await sequelize.close();
    await server.stop();
  });

  async function scanAt(moment: number): Promise<void> {
    clock.set(moment);
    await runScan(url, clock);
  }

  async function newPlan(tier: number): Promise<string> {
    const { plan } = await server.admin.createPlan({ name: unique('shorter'), tier, grace_days: 30 });
    return plan.name;
  }

  async function licenseOf(plan: string, days: number) {
    const license = await newLicense(server, { plan, days: daysBefore + days });
    return { ...license, end: Date.parse(license.expires_at) };
  }

  const shorten = (plan: string) => server.admin.updatePlan({ name: plan, grace_days: 2 });

  const areWaiting = (count: number) =>
    eventually(async () => expect(await countLockWaiters(url)).toBe(count));

  /** Shortens the plan's grace period, and stops before the commit, once it has changed the plan. */
  async function beginToShorten(plan: string) {
    const stopping = await licenseOf(plan, 2);
    await scanAt(stopping.end);
    const lock = `SELECT 1 FROM licenses WHERE id = ${stopping.license_id} FOR UPDATE`;
    const transaction = await lastingTransaction(sequelize, lock);
    const edit = shorten(plan);
    await areWaiting(1);
    return {
      async finish(): Promise<void> {
        await transaction.rollback();
        await edit;
      },
    };
  }

  async function expectExpiry({ license_id, end }: { license_id: number; end: number }): Promise<void> {
    await scanAt(clock.now());
    await scanAt(end + 2 * DAY_MS);
    const names = await eventNames(url, license_id);
    expect(names.filter((name) => name !== 'license.upgraded')).toEqual([
      'license.expiring',
      'license.in_grace',
      'license.expired',
    ]);
  }

  it('that is not committed yet is not overlooked by a scan', async () => {
    const plan = await newPlan(1);
    const license = await licenseOf(plan, 3);
    const { finish } = await beginToShorten(plan);
    await scanAt(license.end);
    await finish();
    await expectExpiry(license);
  });

  it('waits for a scan that has read the longer one', async () => {
    const plan = await newPlan(1);
    const license = await licenseOf(plan, 3);
    await scanAt(license.end - 1);
    const stopping = await lastingTransaction(sequelize, 'LOCK TABLE events IN SHARE MODE');
    const scan = scanAt(license.end);
    await areWaiting(1);
    const edit = shorten(plan);
    await Promise.race([edit, areWaiting(2)]);
    await stopping.rollback();
    await Promise.all([scan, edit]);
    await expectExpiry(license);
  });

  it('that is not committed yet is not overlooked by an upgrade', async () => {
    const license = await licenseOf(await newPlan(1), 1);
    await scanAt(license.end - 1);
    await scanAt(license.end);
    const plan = await newPlan(2);
    const { finish } = await beginToShorten(plan);
    const upgrade = server.admin.upgradeLicense({ ref: license.license_key, plan });
    await areWaiting(2);
    await finish();
    await upgrade;
    await expectExpiry(license);
  });
});
