// What is written down about attempts when the database does not say whether it was written.
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { createTransactions, type RunTransaction } from '#server/database/transaction.ts';
import { createDeliveryStore } from '#server/features/webhooks/delivery-store.ts';
import { createOutcomeRecorder } from '#server/features/webhooks/outcome-recorder.ts';
import { createWebhookStore } from '#server/features/webhooks/webhook-store.ts';
import { databaseAt, selectRows, writeRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { plantWebhook } from '../helpers/outbox.ts';
import { startTestServer } from '../helpers/test-server.ts';

it('records an attempt once if its commit succeeds and the answer to the commit is lost', async () => {
  const dataDir = await keptDataDir();
  const server = await startTestServer({ dataDir });
  const webhookId = await plantWebhook(dataDir, 'license.renewed');
  const { license } = await server.admin.createLicense({ holder: 'Quittung' });
  await server.admin.renewLicense({ ref: license.license_key, days: 1 });
  await server.stop();
  await writeRows(
    dataDir,
    'DELETE FROM delivery_attempts',
    `UPDATE deliveries SET status = 'delivering', attempts = 0, next_attempt_at = 1700000020000`,
  );
  const [{ id }] = (await selectRows(dataDir, 'SELECT id FROM deliveries')) as [{ id: number }];

  const database = await connect(databaseAt(dataDir));
  onTestFinished(() => database.close());
  const run = createTransactions(database);
  let loses = true;
  const transaction: RunTransaction = async (work) => {
    const result = await run(work);
    if (loses) throw new Error('Connection terminated unexpectedly');
    return result;
  };
  const store = { ...createWebhookStore(database), ...createDeliveryStore(database) };
  const recorder = createOutcomeRecorder({ store, transaction, onError: () => {} });
  recorder.add({
    id,
    leaseEndsAt: 1_700_000_020_000,
    webhookId,
    url: 'https://93.184.216.34/hook',
    startedAt: 1_700_000_000_000,
    ms: 5,
    delivered: false,
    status: 500,
    errorClass: 'status',
    error: 'status 500',
    remoteAddress: null,
    reply: '',
    attempts: 0,
    retryAt: 1_700_000_060_000,
  });
  await expect(recorder.writeWith(async () => {})).rejects.toThrow('terminated');
  loses = false;
  await recorder.retry();

  expect(await selectRows(dataDir, 'SELECT delivery_id FROM delivery_attempts')).toEqual([
    { delivery_id: id },
  ]);
  expect(await selectRows(dataDir, 'SELECT status, attempts FROM deliveries')).toEqual([
    { status: 'retrying', attempts: 1 },
  ]);
  expect(recorder.msUntilRetry()).toBe(Infinity);
});
