// An import into PostgreSQL and a change of its plan at the same time: the plan changes before or after, not in between.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Database } from '#server/database/connect.ts';
import { unique } from '../helpers/contract-calls.ts';
import { eventually } from '../helpers/eventually.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import {
  countLockWaiters,
  lastingTransaction,
  newMigratedPostgresDatabase,
  PATIENT,
} from '../helpers/postgres-database.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';
describe.skipIf(!hasPostgres)(`the plan of an import${why}`, () => {
  let url: string;
  let server: TestServer;
  let other: Database;

  beforeAll(async () => {
    url = (await newMigratedPostgresDatabase()) + PATIENT;
    server = await startTestServer({ flags: { 'database-url': url } });
    other = await connect({ url, file: '' });
  });
  afterAll(() => Promise.all([server.stop(), other.close()]));

  const countWaiting = () => countLockWaiters(url, '(INTO|FROM) "?(licenses|plans)');

  it('cannot become floating before its licenses are imported', async () => {
    const { plan } = await server.admin.createPlan({ name: unique('plan') });
    const { import_id } = await server.admin.uploadImport({ file: new Blob(['who\nAda\n']) });
    const held = await lastingTransaction(other, 'LOCK TABLE licenses IN SHARE MODE');
    const importing = server.admin.runImport({
      import_id,
      mapping: { holder: 'who' },
      defaults: { product: unique('product'), plan: plan.name },
    });
    await eventually(async () => expect(await countWaiting()).toBe(1));
    let hasEnded = false;
    const changing = server.admin
      .updatePlan({ id: plan.id, licensing: 'floating' })
      .then(() => 'changed')
      .catch((error: Error) => error.message)
      .finally(() => (hasEnded = true));
    await eventually(async () => expect(hasEnded || (await countWaiting()) === 2).toBe(true));
    await held.rollback();
    expect(await importing).toMatchObject({ state: 'done' });
    expect(await changing).toContain('has licenses, so its licensing cannot change');
  });
});
