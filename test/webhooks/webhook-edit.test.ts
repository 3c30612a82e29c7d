// Changing a webhook: its address, events and CAs, pausing it, and what a test event leaves behind.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callAdmin, newLicense } from '../helpers/contract-calls.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { allIn, deliveriesOnce, lookUntil, registerPath, webhookFlags } from './partner.ts';
import { type PythonReceiver, startPythonReceiver } from './python-receiver.ts';

let receiver: PythonReceiver;
let server: TestServer;

beforeAll(async () => {
  receiver = await startPythonReceiver();
  server = await startTestServer({ flags: webhookFlags(receiver, 0.01) });
});
afterAll(() => server.stop());

const revoke = async () => {
  const license = await newLicense(server);
  await server.admin.revokeLicense({ ref: license.license_key });
};
const auditOf = async (id: number) =>
  (await server.admin.listAudit({ subject: `webhook:${id}` })).items.map(({ action, before, after }) => ({
    action,
    before,
    after,
  }));

it('moves to another address, where waiting deliveries go too', async () => {
  const registered = await registerPath(server, receiver, '/old', 'license.revoked');
  const { webhook, secret } = registered;
  await receiver.configure('/new', { secrets: [secret] });
  await server.admin.updateWebhook({ id: webhook.id, paused: true });
  await revoke();
  const { webhook: changed } = await server.admin.updateWebhook({
    id: webhook.id,
    url: receiver.url('/new'),
    description: 'Moved',
    paused: false,
  });
  expect(changed).toMatchObject({ url: receiver.url('/new'), description: 'Moved', paused: false });
  await allIn(server, registered, 'delivered', 1);
  expect(receiver.to('/old')).toEqual([]);
  expect(receiver.to('/new')).toHaveLength(1);
  expect((await server.admin.showWebhook({ id: webhook.id })).webhook).toMatchObject({
    description: 'Moved',
    status: 'active',
  });
  expect((await auditOf(webhook.id)).map(({ action }) => action)).toEqual([
    'webhook.updated',
    'webhook.updated',
    'webhook.registered',
  ]);
});

it('is not failing because of an attempt that was sent to the address before', async () => {
  const registered = await registerPath(server, receiver, '/slow', 'license.revoked');
  const { webhook, secret } = registered;
  await receiver.configure('/slow', { secrets: [secret], answers: [{ status: 503, hold: true }] });
  // The retry goes to the new address, where it waits.
  await receiver.configure('/quick', { secrets: [secret], answers: [{ status: 200, hold: true }] });
  await revoke();
  await receiver.received('/slow', 1);
  await server.admin.updateWebhook({ id: webhook.id, url: receiver.url('/quick') });
  await receiver.release('/slow');
  await deliveriesOnce(server, registered, (items) => items.some(({ attempts }) => attempts > 0));
  expect((await server.admin.showWebhook({ id: webhook.id })).webhook).toMatchObject({
    status: 'active',
    last_error: null,
  });
  await receiver.release('/quick');
});

it('holds deliveries back while it is paused, and sends them when it is resumed', async () => {
  const registered = await registerPath(server, receiver, '/paused', 'license.revoked');
  const other = await registerPath(server, receiver, '/not-paused', 'license.revoked');
  const { id } = registered.webhook;
  const { webhook } = await server.admin.updateWebhook({ id, paused: true });
  expect(webhook.paused).toBe(true);
  await revoke();
  // Another webhook got the same event: the dispatcher has been there.
  await allIn(server, other, 'delivered', 1);
  expect(await deliveriesOnce(server, registered, (items) => items.length === 1)).toMatchObject([
    { status: 'pending', attempts: 0 },
  ]);
  await server.admin.updateWebhook({ id, paused: false });
  await allIn(server, registered, 'delivered', 1);
});

it('takes another event from the next one on', async () => {
  const registered = await registerPath(server, receiver, '/scope', 'license.renewed');
  await server.admin.updateWebhook({ id: registered.webhook.id, scope: 'license.revoked' });
  await revoke();
  const deliveries = await allIn(server, registered, 'delivered', 1);
  expect(deliveries).toMatchObject([{ event: 'license.revoked' }]);
});

it('records a change once, and none if nothing changes', async () => {
  const { webhook } = await registerPath(server, receiver, '/same');
  for (const description of ['Shop', 'Shop'])
    await server.admin.updateWebhook({ id: webhook.id, description });
  await server.admin.updateWebhook({ id: webhook.id, url: webhook.url, paused: false });
  const [changed, registered] = await auditOf(webhook.id);
  expect(changed).toMatchObject({
    action: 'webhook.updated',
    before: { description: null, own_ca: false },
    after: { description: 'Shop', own_ca: false },
  });
  expect(registered).toMatchObject({ action: 'webhook.registered' });
  const { webhook: cleared } = await server.admin.updateWebhook({ id: webhook.id, description: null });
  expect(cleared.description).toBeNull();
});

it('refuses addresses and certificates as the registration does', async () => {
  const { webhook } = await registerPath(server, receiver, '/refused');
  const change = (fields: object) => callAdmin(server, 'updateWebhook', { id: webhook.id, ...fields });
  expectFailure(await change({ url: 'https://10.0.0.1/hook' }), 'webhook_url_forbidden');
  expectFailure(await change({ url: 'http://example.com/hook' }), 'webhook_url_forbidden');
  expectFailure(await change({ ca: 'no certificate' }), 'invalid_request');
  expectFailure(await change({ scope: 'everything' }), 'invalid_request');
  expectFailure(await callAdmin(server, 'updateWebhook', { id: 999, paused: true }), 'webhook_not_found');
  expectFailure(await callAdmin(server, 'showWebhook', { id: 999 }), 'webhook_not_found');
  expect((await server.admin.showWebhook({ id: webhook.id })).webhook).toEqual(webhook);
});

it('is marked while its last test event failed', async () => {
  const { webhook, secret } = await registerPath(server, receiver, '/tested');
  const shown = async () => (await server.admin.showWebhook({ id: webhook.id })).webhook;
  expect(await shown()).toMatchObject({ last_test_at: null, last_test_error: null });
  await receiver.configure('/tested', { secrets: [secret], answers: [{ status: 503 }] });
  await server.admin.testWebhook({ id: webhook.id });
  expect(await shown()).toMatchObject({
    last_test_at: expect.any(String) as string,
    last_test_error: 'HTTP 503',
    // A test is no delivery.
    status: 'active',
    last_delivery_at: null,
  });
  await receiver.configure('/tested', { secrets: [secret], answers: [{ status: 200 }] });
  await server.admin.testWebhook({ id: webhook.id });
  expect(await shown()).toMatchObject({ last_test_error: null });
});

it('is not marked by a test of its old address that ends later', async () => {
  const { webhook, secret } = await registerPath(server, receiver, '/slow-test');
  const { id } = webhook;
  await receiver.configure('/slow-test', { secrets: [secret], answers: [{ status: 503, hold: true }] });
  const tested = server.admin.testWebhook({ id });
  await receiver.received('/slow-test', 1);
  await server.admin.updateWebhook({ id, url: receiver.url('/quick') });
  await receiver.release('/slow-test');
  expect((await tested).attempt).toMatchObject({ status: 503, error: 'HTTP 503' });
  expect((await server.admin.showWebhook({ id })).webhook).toMatchObject({
    last_test_at: null,
    last_test_error: null,
  });
});

it('forgets the health of its old address', async () => {
  const registered = await registerPath(server, receiver, '/sick', 'license.revoked');
  const { id } = registered.webhook;
  await receiver.configure('/sick', { secrets: [registered.secret], answers: [{ status: 500 }] });
  await revoke();
  await allIn(server, registered, 'failed', 1);
  await lookUntil(async () => {
    const { webhook } = await server.admin.showWebhook({ id });
    return webhook.status === 'failing' ? webhook : undefined;
  });
  const { webhook } = await server.admin.updateWebhook({ id, url: receiver.url('/well') });
  expect(webhook).toMatchObject({ status: 'active', last_error: null });
});

it('that is unknown has no deliveries to count', async () => {
  expectFailure(
    await callAdmin(server, 'countRecentDeliveries', { webhook_id: 999_999 }),
    'webhook_not_found',
  );
});
