// A webhook on PostgreSQL that is paused while the dispatcher, which has seen it active, waits to claim its deliveries.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Database } from '#server/database/connect.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import {
  countLockWaiters,
  lastingTransaction,
  newMigratedPostgresDatabase,
  PATIENT,
} from '../helpers/postgres-database.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { allIn, lookUntil, registerPath, webhookFlags } from './partner.ts';
import { type PythonReceiver, startPythonReceiver } from './python-receiver.ts';

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';
describe.skipIf(!hasPostgres)(`a webhook that is paused${why}`, () => {
  let receiver: PythonReceiver;
  let url: string;
  let server: TestServer;
  let other: Database;

  beforeAll(async () => {
    receiver = await startPythonReceiver();
    url = (await newMigratedPostgresDatabase()) + PATIENT;
    server = await startTestServer({ flags: { ...webhookFlags(receiver, 0.01), 'database-url': url } });
    other = await connect({ url, file: '' });
  });
  afterAll(() => Promise.all([server.stop(), other.close()]));

  const revoke = async () => {
    const license = await newLicense(server);
    await server.admin.revokeLicense({ ref: license.license_key });
  };

  it('gets nothing more, also if a claim of its deliveries was waiting', async () => {
    const paused = await registerPath(server, receiver, '/paused', 'license.revoked');
    const active = await registerPath(server, receiver, '/active', 'license.revoked');
    const { id } = paused.webhook;
    await server.admin.updateWebhook({ id, paused: true });
    await revoke();
    await allIn(server, active, 'delivered', 1);
    const held = await lastingTransaction(other, 'LOCK TABLE deliveries IN EXCLUSIVE MODE');
    await server.admin.updateWebhook({ id, paused: false });
    await lookUntil(async () => (await countLockWaiters(url, 'deliveries')) > 0 || undefined);
    await server.admin.updateWebhook({ id, paused: true });
    await held.rollback();
    // The next event is sent after that claim.
    await revoke();
    await allIn(server, active, 'delivered', 2);
    const { items } = await server.admin.listDeliveries({ webhook_id: id });
    expect(items.map(({ status }) => status)).toEqual(['pending', 'pending']);
    expect(receiver.to('/paused')).toEqual([]);
  });
});
