import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { holdReply } from './held-reply.ts';
import { chooseAction, expect, issueLicense } from './test.ts';
import { goTo, task } from './tasks.ts';
import { test } from './webhook-receiver.ts';

const SECRET = /whsec_[\w+/=-]{20,}/u;
const row = (desk: Page, text: string) => desk.getByRole('row').filter({ hasText: text });

test.describe('a receiver with a private certificate authority', () => {
  test.use({ serverFlags: ['--webhook-allow', '127.0.0.0/8'] });

  test('a webhook is registered, tested, given a new secret and deleted', async ({ desk, receiver }) => {
    await desk.goto('/#/webhooks');
    await desk.getByRole('button', { name: 'Register your first webhook' }).click();
    const register = desk.getByRole('dialog', { name: 'Register webhook' });
    await register.getByLabel('URL').fill('https://10.0.0.1/hook');
    await register.getByLabel('Events').selectOption('license.renewed');
    await register.getByRole('button', { name: 'Register' }).click();
    await expect(register.getByRole('alert')).toContainText(
      'enter it in the settings under Private networks for webhooks',
    );
    await expect(register.getByRole('link', { name: 'Private networks for webhooks' })).toHaveAttribute(
      'href',
      '#/settings?tab=webhooks',
    );
    await desk.keyboard.press('Escape');

    await desk.goto('/#/overview');
    const inspector = desk.getByRole('complementary', { name: receiver.host });
    const result = inspector.getByRole('status', { name: 'Test result' });
    const first = await task(desk, 'connect a receiver on the network with a private CA', async () => {
      await goTo(desk, 'Webhooks');
      await desk.getByRole('button', { name: 'Register your first webhook' }).click();
      await register.getByLabel('URL').fill(receiver.url);
      await register.getByLabel('Events').selectOption('license.renewed');
      await register.getByText('The receiver uses a private certificate authority').click();
      await register.locator('input[type=file]').setInputFiles(receiver.caFile);
      await register.getByRole('button', { name: 'Register' }).click();

      const registered = desk.getByRole('dialog', { name: 'Webhook registered' });
      const secret = (await registered.getByText(SECRET).textContent()) ?? '';
      await registered.getByRole('button', { name: 'I have saved it' }).click();
      await expect(row(desk, receiver.url)).toContainText('license.renewed');
      await expect(row(desk, receiver.url)).toContainText('Unused');
      await expect(desk.getByText(secret)).toHaveCount(0);

      await row(desk, receiver.url).click();
      await inspector.getByRole('button', { name: 'Send test event' }).click();
      await expect(result).toContainText('accepted the test event');
      return secret;
    });
    await expect(result).toContainText(/HTTP 200\s*[\d,]+ ms/u);
    receiver.answer(503, 'down for maintenance');
    await inspector.getByRole('button', { name: 'Send test event' }).click();
    await expect(result).toContainText('The test event was not delivered.');
    await expect(result).toContainText('down for maintenance');
    // The mark stays on the webhook, and in the list, after the result is gone.
    await expect(row(desk, receiver.url)).toContainText('Test failed');
    await desk.reload();
    await expect(row(desk, receiver.url)).toContainText('Test failed');
    await expect(inspector).toContainText('Last testHTTP 503');
    await expectAccessible(desk);

    await chooseAction(inspector, 'Rotate secret');
    const rotate = desk.getByRole('dialog', { name: 'Rotate secret' });
    await expect(rotate).toContainText('24 hours');
    await rotate.getByRole('button', { name: 'Rotate secret' }).click();
    const renewed = desk.getByRole('dialog', { name: 'New signing secret' });
    expect(await renewed.getByText(SECRET).textContent()).not.toBe(first);
    // A secret that was not copied is not lost by Escape.
    await desk.keyboard.press('Escape');
    await expect(renewed.getByRole('alert')).toContainText(
      'You have not confirmed that the secret is stored.',
    );
    await renewed.getByRole('button', { name: 'Keep open' }).click();
    await expect(renewed.getByText(SECRET)).toBeVisible();
    await renewed.getByRole('button', { name: 'Dismiss' }).click();
    await renewed.getByRole('button', { name: 'Close anyway' }).click();
    await expect(renewed).toHaveCount(0);
    await expect(inspector).toBeVisible();

    await chooseAction(inspector, 'Delete');
    const remove = desk.getByRole('dialog', { name: `Delete webhook ${receiver.host}?` });
    await expect(remove.getByRole('button', { name: 'Delete' })).toBeDisabled();
    await remove.getByLabel(`Type ${receiver.host} to confirm`).fill(receiver.host);
    await remove.getByRole('button', { name: 'Delete' }).click();
    await expect(desk.getByRole('button', { name: 'Register your first webhook' })).toBeVisible();
  });
});

test('deliveries show the payload that was sent, and the event catalog a sample', async ({
  desk,
  server,
  receiver,
}) => {
  const registration = { url: receiver.url, scope: 'all', description: 'ERP – Buchhaltung' };
  await desk.request.post('/admin/api/webhooks/register/', { data: registration });
  await desk.goto('/#/webhooks');
  await row(desk, receiver.url).press('Enter');
  await expect(desk.getByText('ERP – Buchhaltung')).toBeVisible();
  await expect(desk.getByText('No deliveries yet', { exact: false }).last()).toBeVisible();

  const licenseKey = await issueLicense(desk, { holder: 'Acme' });
  const device = { license_key: licenseKey, machine_fingerprint: `sha256:${'0'.repeat(64)}` };
  await desk.request.post(`${server.api}activate/`, { data: device });
  const delivery = desk.getByRole('button', { name: 'Delivered license.activated' });
  await expect(row(desk, receiver.url)).toContainText('Healthy');
  await delivery.click();
  await expect(desk.getByRole('group', { name: 'Response' })).toHaveText('thanks');
  const body = await desk.getByRole('group', { name: 'Payload' }).innerText();
  expect(JSON.parse(body)).toEqual(JSON.parse(receiver.received[0]?.body ?? ''));
  await expectAccessible(desk);
  await desk.getByRole('button', { name: 'All deliveries' }).click();
  await expect(delivery).toBeVisible();

  // The webhook's page shows the same, with the deliveries as a list.
  await desk.getByRole('link', { name: 'Open page' }).click();
  await expect(desk.getByRole('heading', { level: 1 })).toHaveText(receiver.url);
  await expect(
    desk.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Webhooks' }),
  ).toHaveAttribute('aria-current', 'page');
  const delivered = row(desk, 'license.activated');
  await expect(delivered).toContainText('Delivered');
  await expect(delivered).toContainText(/today, \d\d:\d\d/u);
  await delivered.press('Enter');
  const opened = desk.getByRole('complementary', { name: 'license.activated' });
  await expect(opened.getByRole('group', { name: 'Response' })).toHaveText('thanks');
  await expectAccessible(desk);
  await desk.keyboard.press('Escape');
  await expect(delivered).toBeFocused();
  await desk.getByRole('link', { name: 'Webhooks' }).last().click();

  await desk.getByRole('tab', { name: 'Event catalog' }).click();
  await desk.getByRole('button', { name: 'certificate.revoked' }).click();
  await desk.reload();
  const sample = await desk.getByRole('group', { name: 'Sample payload of certificate.revoked' }).innerText();
  expect(JSON.parse(sample)).toMatchObject({ event: 'certificate.revoked', reason: 'superseded' });
  await expectAccessible(desk);
});

test('the strip of a webhook shows its last day and rotates its secret', async ({
  desk,
  server,
  receiver,
}) => {
  await desk.request.post('/admin/api/webhooks/register/', { data: { url: receiver.url, scope: 'all' } });
  const license = await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('/#/webhooks/1');
  const fact = (name: string) =>
    desk.getByRole('term').filter({ hasText: name }).locator('..').getByRole('definition');
  await expect(fact('Delivered, last 24 h')).toHaveText('–');
  const device = { license_key: license, machine_fingerprint: `sha256:${'0'.repeat(64)}` };
  await desk.request.post(`${server.api}activate/`, { data: device });
  await expect(fact('Delivered, last 24 h')).toHaveText('100% · 1 of 1');
  receiver.answer(503, 'down');
  await desk.request.post('/admin/api/licenses/revoke/', { data: { ref: license } });
  await expect(fact('Delivered, last 24 h')).toHaveText('50% · 1 of 2');
  await expectAccessible(desk);
  // Rounded, it would be 100%.
  await desk.route('**/deliveries/count-recent/**', async (route) => {
    const reply = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...reply, delivered: 1999, attempted: 2000 } });
  });
  await desk.reload();
  await expect(fact('Delivered, last 24 h')).toHaveText('99.9% · 1,999 of 2,000');

  await fact('Signing secret').getByRole('button', { name: 'Rotate secret' }).click();
  const rotate = desk.getByRole('dialog', { name: 'Rotate secret' });
  await rotate.getByRole('button', { name: 'Rotate secret' }).click();
  await expect(desk.getByRole('dialog', { name: 'New signing secret' }).getByText(SECRET)).toBeVisible();
});

test('a webhook is edited, paused and resumed', async ({ desk, receiver }) => {
  const { webhook } = (await (
    await desk.request.post('/admin/api/webhooks/register/', {
      data: { url: 'https://127.0.0.1:1/typo', scope: 'license.renewed' },
    })
  ).json()) as { webhook: { id: number } };
  await desk.goto(`/#/webhooks?open=${webhook.id}`);
  const inspector = desk.getByRole('complementary', { name: '127.0.0.1:1' });
  await chooseAction(inspector, 'Edit');
  const dialog = desk.getByRole('dialog', { name: 'Edit webhook' });
  await expect(dialog.getByLabel('URL')).toHaveValue('https://127.0.0.1:1/typo');
  await dialog.getByLabel('URL').fill(receiver.url);
  await dialog.getByLabel('Events').selectOption('license.revoked');
  await dialog.getByLabel('Description').fill('ERP');
  await expectAccessible(desk);
  await dialog.getByRole('button', { name: 'Save' }).click();
  const results = desk.getByRole('log', { name: 'Results' });
  await expect(results.getByText(`Webhook ${receiver.host} saved`)).toBeVisible();
  await expect(row(desk, receiver.url)).toContainText('license.revoked');

  const edited = desk.getByRole('complementary', { name: receiver.host });
  await expect(edited).toContainText('ERP');
  await chooseAction(edited, 'Pause');
  await expect(edited).toContainText('Deliveries wait until the webhook is resumed.');
  await expect(row(desk, receiver.url)).toContainText('Paused');
  const license = await issueLicense(desk, { holder: 'Acme' });
  await desk.request.post('/admin/api/licenses/revoke/', { data: { ref: license } });
  await expect(edited.getByRole('button', { name: 'Pending license.revoked' })).toBeVisible();
  await expectAccessible(desk);
  await edited.getByRole('button', { name: 'Resume' }).click();
  // The pointer keeps the result on the page.
  await results.getByText(`Webhook ${receiver.host} resumed`, { exact: true }).hover();
  await expect(edited.getByRole('button', { name: 'Delivered license.revoked' })).toBeVisible();
  expect(receiver.received).toHaveLength(1);
  // The result of the action takes it back.
  await results.getByRole('button', { name: 'Undo' }).last().click();
  await expect(row(desk, receiver.url)).toContainText('Paused');
});

test('Undo and the result of a test stay with their webhook', async ({ desk, receiver }) => {
  const data = { url: receiver.url, scope: 'license.renewed' };
  for (let id = 1; id <= 2; id += 1) await desk.request.post('/admin/api/webhooks/register/', { data });
  await desk.goto('/#/webhooks/1');
  await desk.getByRole('button', { name: 'Send test event' }).click();
  const result = desk.getByRole('status', { name: 'Test result' });
  await expect(result).toBeVisible();
  await chooseAction(desk.getByRole('main'), 'Pause');
  await expect(desk.getByText('Deliveries wait until the webhook is resumed.')).toBeVisible();
  // The pointer keeps it on the page.
  const undo = desk.getByRole('log', { name: 'Results' }).getByRole('button', { name: 'Undo' });
  await undo.hover();
  await desk.goto('/#/webhooks/2');
  await expect(desk.getByText('Deliveries wait until the webhook is resumed.')).toHaveCount(0);
  await expect(result).toHaveCount(0);
  await undo.click();
  const paused = async () =>
    (
      (await (await desk.request.get('/admin/api/webhooks/show/?id=1')).json()) as {
        webhook: { paused: boolean };
      }
    ).webhook.paused;
  await expect.poll(paused).toBe(false);
});

test('a webhook far down the list opens by its address', async ({ desk }) => {
  const register = async (path: string) => {
    const response = await desk.request.post('/admin/api/webhooks/register/', {
      data: { url: `https://127.0.0.1:1/${path}`, scope: 'license.renewed', description: path },
    });
    return (await response.json()) as { webhook: { id: number } };
  };
  const { webhook } = await register('oldest');
  for (let count = 0; count < 21; count += 1)
    await Promise.all(Array.from({ length: 10 }, (_, index) => register(`${count}-${index}`)));
  await desk.goto(`/#/webhooks?open=${webhook.id}`);
  const inspector = desk.getByRole('complementary', { name: '127.0.0.1:1' });
  await expect(inspector).toContainText('oldest');
});

test(
  'a secret that arrives while the session has ended is shown after the sign-in',
  { tag: '@browser' },
  async ({ desk, server, receiver }) => {
    await desk.request.post('/admin/api/webhooks/register/', { data: { url: receiver.url, scope: 'all' } });
    const { asked, release } = await holdReply(desk, 'webhooks/rotate/');
    await desk.goto('/#/webhooks/1');
    await desk.getByRole('definition').getByRole('button', { name: 'Rotate secret' }).click();
    const rotate = desk.getByRole('dialog', { name: 'Rotate secret' });
    await rotate.getByRole('button', { name: 'Rotate secret' }).click();
    await asked;
    await server.cli('session', 'end', '--all');
    await expect(desk.getByRole('dialog', { name: 'Sign in' })).toBeVisible();
    const replied = desk.waitForResponse('**/webhooks/rotate/');
    release();
    await (await replied).finished();
    await desk.getByLabel('Already have a link?').fill(await server.link());
    await desk.getByRole('button', { name: 'Sign in' }).click();
    const rotated = desk.getByRole('dialog', { name: 'New signing secret' });
    await expect(rotated.getByText(SECRET)).toBeVisible();
    expect(await rotated.evaluate((element) => element.matches(':modal'))).toBe(true);
    await rotated.getByRole('button', { name: 'I have saved it' }).click();
    await expect(desk.getByRole('dialog')).toHaveCount(0);
  },
);
