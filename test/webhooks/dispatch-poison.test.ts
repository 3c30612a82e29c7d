// Webhooks and deliveries that cannot be handled: the others are sent as if nothing were wrong.
import { expect, it } from 'vitest';
import { selectRows, writeRows } from '../helpers/database.ts';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { allIn, lookUntil, registerPath, webhookFlags } from './partner.ts';
import { startPythonReceiver } from './python-receiver.ts';

it('a webhook that cannot be sent to does not stop the others', async () => {
  const receiver = await startPythonReceiver();
  const server = await startServerProcess({
    dataDir: temporaryDirectory(),
    flags: webhookFlags(receiver, 0.01),
  });
  const names = ['secret', 'ca', 'url', 'working'];
  const [secret, ca, url, working] = await Promise.all(
    names.map((name) => registerPath(server, receiver, `/${name}`, 'license.renewed')),
  );
  const [{ sealed }] = await selectRows(
    server.dataDir,
    `SELECT secret_sealed AS sealed FROM webhooks WHERE id = ${secret!.webhook.id}`,
  );
  const set = (id: number, column: string, value: string) =>
    writeRows(server.dataDir, `UPDATE webhooks SET ${column} = '${value}' WHERE id = ${id}`);
  // As after a restore under another master key.
  await set(secret!.webhook.id, 'secret_sealed', `v1.${'A'.repeat(80)}`);
  await set(ca!.webhook.id, 'ca', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----');
  await set(url!.webhook.id, 'url', 'https://[');

  const { license } = await server.admin.createLicense({ holder: 'Müller & Söhne' });
  for (let events = 1; events <= 3; events += 1) {
    await server.admin.renewLicense({ ref: license.license_key, days: 1 });
    await allIn(server, working!, 'delivered', events);
  }
  // The receiver is trusted without it.
  await allIn(server, ca!, 'delivered', 3);
  for (const delivery of await allIn(server, url!, 'failed', 3)) expect(delivery.attempts).toBe(6);
  const sealedError =
    'cannot open a sealed webhook-secret: it was altered or sealed with a different master key';
  const [first] = await allIn(server, secret!, 'failed', 3);
  expect(first).toMatchObject({ attempts: 6, last_error: sealedError });
  const { id } = first!;
  await server.logLines({
    job: 'webhook-dispatcher',
    msg: `delivery ${id} to webhook ${secret!.webhook.id} cannot be sent: ${sealedError}`,
  });
  expect((await server.get('/health/')).body).toMatchObject({ ok: true, checks: { jobs: 'ok' } });

  await set(secret!.webhook.id, 'secret_sealed', sealed as string);
  await server.admin.retryDelivery({ id });
  await receiver.answered('/secret', 1);
  expect((await server.kill()).code).toBe(0);
});

it('an outcome that the database refuses is written once the database accepts it', async () => {
  const receiver = await startPythonReceiver();
  const server = await startServerProcess({
    dataDir: temporaryDirectory(),
    flags: webhookFlags(receiver, 0.01),
  });
  const refused = await registerPath(server, receiver, '/refused', 'license.renewed');
  await writeRows(
    server.dataDir,
    `CREATE TRIGGER refuse BEFORE INSERT ON delivery_attempts
     WHEN (SELECT webhook_id FROM deliveries WHERE id = NEW.delivery_id) = ${refused.webhook.id}
     BEGIN SELECT RAISE(ABORT, 'this row is damaged'); END`,
  );
  const { license } = await server.admin.createLicense({ holder: 'Poškozený řádek' });
  const renew = () => server.admin.renewLicense({ ref: license.license_key, days: 1 });
  await renew();
  await receiver.answered('/refused', 1);
  const working = await registerPath(server, receiver, '/working', 'license.renewed');
  for (let events = 1; events <= 3; events += 1) {
    await renew();
    await allIn(server, working, 'delivered', events);
  }
  await server.logLines({ job: 'webhook-dispatcher', msg: 'SQLITE_CONSTRAINT: this row is damaged' });

  await writeRows(server.dataDir, 'DROP TRIGGER refuse');
  await lookUntil(async () => {
    const { items } = await server.admin.listDeliveries({ webhook_id: refused.webhook.id });
    return items.every(({ status }) => status === 'delivered') || undefined;
  });
  // Nothing was sent twice for it.
  expect(receiver.to('/refused')).toHaveLength(4);
  expect((await server.kill()).code).toBe(0);
});
