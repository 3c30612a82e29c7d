import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import type { TestServer } from './server.ts';
import { expect, issueLicense } from './test.ts';
import { goTo, task } from './tasks.ts';
import { test, type WebhookReceiver } from './webhook-receiver.ts';

interface Desk {
  desk: Page;
  server: TestServer;
  receiver: WebhookReceiver;
}

const rows = (desk: Page) => desk.getByRole('grid').getByRole('row').filter({ hasText: 'license.activated' });
const badge = (desk: Page) => desk.getByRole('navigation').getByRole('link', { name: 'Failed events' });

/** Creates this many events that the receiver rejects until their retries are used up. */
async function letEventsFail(
  { desk, server, receiver }: Desk,
  count: number,
  answer = 'the database is down',
): Promise<string> {
  receiver.answer(500, answer);
  const registration = { url: receiver.url, scope: 'license.activated' };
  await desk.request.post('/admin/api/webhooks/register/', { data: registration });
  const licenseKey = await issueLicense(desk, { holder: 'Acme', plan: 'enterprise' });
  for (let number = 0; number < count; number += 1) {
    const fingerprint = `sha256:${String(number).padStart(64, '0')}`;
    const device = { license_key: licenseKey, machine_fingerprint: fingerprint };
    await desk.request.post(`${server.api}activate/`, { data: device });
  }
  await expect(badge(desk)).toContainText(`${count} failed event`);
  return licenseKey;
}

test('a failed event shows its reason and is retried', async ({ desk, server, receiver }) => {
  await desk.goto('/#/failed-events');
  await expect(desk.getByText('Deliveries appear here', { exact: false })).toBeVisible();
  const licenseKey = await letEventsFail({ desk, server, receiver }, 1);

  await expect(rows(desk)).toContainText('HTTP 500');
  await rows(desk).click();
  const inspector = desk.getByRole('complementary');
  await expect(inspector.getByRole('group', { name: 'Response' })).toHaveText(
    Array.from({ length: 6 }, () => 'the database is down'),
  );
  await expect(inspector.getByRole('group', { name: 'Payload' })).toContainText(licenseKey);
  await expectAccessible(desk);

  receiver.answer(200, 'back again');
  await inspector.getByRole('button', { name: 'Retry now' }).click();
  await expect(inspector.getByText('Delivered')).toBeVisible();
  await expect(inspector.getByText('back again')).toBeVisible();
  await expect(rows(desk)).toHaveCount(0);
  await expect(badge(desk)).not.toContainText('failed event');
  expect(new Set(receiver.received.map(({ delivery }) => delivery)).size).toBe(1);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  await desk.keyboard.press('Escape');
  await expect(desk.getByText('Deliveries appear here', { exact: false })).toBeVisible();
});

test('in a long response the arrow keys scroll, elsewhere they step through the records', async ({
  desk,
  server,
  receiver,
}) => {
  await letEventsFail({ desk, server, receiver }, 2, 'the database is down\n'.repeat(40));
  await desk.goto('/#/failed-events');
  await rows(desk).first().click();
  const response = desk.getByRole('complementary').getByRole('group', { name: 'Response' }).first();
  // Only what scrolls can have the focus, which is known once it is laid out.
  await expect(response).toHaveAttribute('tabindex', '0');
  await response.focus();
  const address = desk.url();
  await desk.keyboard.press('ArrowDown');
  await expect.poll(() => response.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0);
  expect(desk.url()).toBe(address);
  await desk.getByRole('complementary').getByRole('button', { name: 'Retry now' }).focus();
  await desk.keyboard.press('ArrowDown');
  await expect(desk).not.toHaveURL(address);
});

test('a failed event of a deleted webhook is not said to be retried', async ({ desk, server, receiver }) => {
  await letEventsFail({ desk, server, receiver }, 1);
  await desk.goto('/#/failed-events');
  await rows(desk).click();
  const retry = desk.getByRole('complementary').getByRole('button', { name: 'Retry now' });
  await expect(retry).toBeVisible();
  // As it is when the webhook is deleted elsewhere, and this page has not heard of it.
  await desk.route('**/admin/api/**', (route) =>
    route.request().method() === 'GET' ? route.abort() : route.continue(),
  );
  await desk.request.delete('/admin/api/webhooks/', { data: { id: 1 } });
  await retry.click();
  await expect(desk.getByText('Nothing to retry.')).toBeVisible();
});

test('selected events, and all since a date, are retried', async ({ desk, server, receiver }) => {
  await letEventsFail({ desk, server, receiver }, 4);
  const failedAttempts = receiver.received.length;
  receiver.answer(200, 'thanks');
  await desk.goto('/#/failed-events?since=2990-01-01');
  await expect(desk.getByText('No failed events match')).toBeVisible();
  await expect(desk.getByRole('button', { name: 'Retry all' })).toBeDisabled();
  await desk.getByLabel('Since', { exact: true }).fill('2020-01-01');
  await expect(rows(desk)).toHaveCount(4);

  await rows(desk).first().press('Space');
  await rows(desk).nth(1).getByRole('checkbox').check();
  await desk.getByRole('button', { name: 'Retry 2 selected' }).press('Enter');
  await expect(desk.getByText('Retrying 2 events.')).toBeVisible();
  await expect(rows(desk)).toHaveCount(2);
  await expect(desk.getByRole('button', { name: /selected$/u })).toHaveCount(0);
  await expect(rows(desk).first()).toBeFocused();
  await expectAccessible(desk);

  await desk.goto('/#/overview');
  await task(desk, 'retry all failed events', async () => {
    await goTo(desk, 'Failed events');
    await desk.getByRole('button', { name: 'Retry all' }).click();
    const dialog = desk.getByRole('dialog', { name: 'Retry all' });
    await expect(dialog).toContainText('2 failed events are sent again now.');
    await dialog.getByRole('button', { name: 'Retry 2 events' }).click();
    await expect(desk.getByText('Deliveries appear here', { exact: false })).toBeVisible();
  });
  await expect(badge(desk)).not.toContainText('failed event');
  await expect.poll(() => receiver.received.length).toBe(failedAttempts + 4);
});
