// The message that hands a license over: it follows the license until an administrator writes in it.
import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { expect, issueLicense, test } from './test.ts';

const OWN_WORDS = 'Hello Jana, here is your key. Call me if anything is unclear.';
const CHANGED = 'The license has changed since you edited this message.';

async function openHandOver(page: Page) {
  await issueLicense(page, {
    holder: 'Acme',
    email: 'orders@acme.example',
    expires_at: '2030-03-01T00:00:00Z',
  });
  await page.goto('/#/licenses?open=1');
  await page.getByRole('complementary').getByRole('button', { name: 'Hand over' }).click();
  const dialog = page.getByRole('dialog', { name: 'Hand over the license of Acme' });
  const message = dialog.getByRole('textbox', { name: 'Message', exact: true });
  await expect(message).toHaveValue(/Valid until: 1 March 2030/u);
  return { dialog, message };
}

/** By another administrator. */
async function renewElsewhere(page: Page): Promise<void> {
  const data = { ref: '1', expires_at: '2031-05-01T00:00:00Z' };
  const response = await page.request.post('/admin/api/licenses/renew/', { data });
  expect(response.ok(), await response.text()).toBe(true);
}

test('an unedited message follows a renewal by another administrator', async ({ desk }) => {
  const { dialog, message } = await openHandOver(desk);
  await renewElsewhere(desk);
  await expect(dialog).toHaveAccessibleDescription(/until 1 May 2031$/u);
  await expect(message).toHaveValue(/Valid until: 1 May 2031/u);
  await expect(dialog.getByRole('link', { name: 'Open in mail app' })).toHaveAttribute(
    'href',
    /1%20May%202031/u,
  );
  await expect(dialog.getByText(CHANGED)).toHaveCount(0);

  await desk.request.put('/admin/api/licenses/', { data: { ref: '1', email: 'jana@acme.example' } });
  await expect(dialog.getByRole('textbox', { name: 'To', exact: true })).toHaveValue('jana@acme.example');
});

test('an edited message stays as it is when the license changes, and the dialog says so', async ({
  desk,
}) => {
  const { dialog, message } = await openHandOver(desk);
  await message.fill(OWN_WORDS);
  await renewElsewhere(desk);
  await expect(dialog.getByRole('status').filter({ hasText: CHANGED })).toBeVisible();
  await expect(message).toHaveValue(OWN_WORDS);
  await expectAccessible(desk);
});

test('an edited message is still there after a look at the template or another language', async ({
  desk,
}) => {
  const { dialog, message } = await openHandOver(desk);
  const subject = dialog.getByLabel('Subject');
  const language = dialog.getByLabel('Message language');
  await subject.fill('Your key');
  await message.fill(OWN_WORDS);

  await dialog.getByRole('button', { name: 'Edit template' }).click();
  await expect(message).toHaveValue(/your license for \{product\} is ready/u);
  await message.fill('Draft of a template: {key}');
  await language.selectOption('Deutsch');
  await expect(message).toHaveValue(/Ihre Lizenz für \{product\} ist bereit/u);
  await language.selectOption('English');
  await expect(message).toHaveValue('Draft of a template: {key}');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(subject).toHaveValue('Your key');
  await expect(message).toHaveValue(OWN_WORDS);

  // Each language has its own message.
  await language.selectOption('Deutsch');
  await expect(message).toHaveValue(/Ihre Lizenz für my-product ist bereit/u);
  await language.selectOption('English');
  await expect(message).toHaveValue(OWN_WORDS);

  await dialog.getByRole('button', { name: 'Edit template' }).click();
  await expect(message).toHaveValue(/your license for \{product\} is ready/u);
  await message.fill('Key of {holder}: {key}');
  await language.selectOption('Deutsch');
  await message.fill('Schlüssel von {holder}: {key}');
  await dialog.getByRole('button', { name: 'Save template' }).click();
  await expect(message).toHaveValue(/^Schlüssel von Acme: /u);
  await language.selectOption('English');
  await expect(message).toHaveValue(/^Key of Acme: /u);
});
