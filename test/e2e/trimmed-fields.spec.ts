// A space around a text that is copied or completed by a keyboard cannot be seen, and refuses nothing.
import { expect, issueLicense, test } from './test.ts';

const FINGERPRINT = `sha256:${'4f'.repeat(32)}`;

for (const how of ['Enter', 'a click'])
  test(`a fingerprint with spaces around it is sent with ${how}`, { tag: '@browser' }, async ({ desk }) => {
    await issueLicense(desk, { holder: 'Acme' });
    await desk.goto('/#/licenses?open=1&tab=devices');
    await desk.getByRole('complementary').getByRole('button', { name: 'Add device' }).click();
    const dialog = desk.getByRole('dialog');
    await dialog.getByLabel('Device fingerprint').fill(` ${FINGERPRINT} `);
    if (how === 'Enter') await desk.keyboard.press('Enter');
    else await dialog.getByRole('button', { name: 'Activate', exact: true }).click();
    await expect(dialog.getByRole('button', { name: 'Done' })).toBeVisible();
  });

test('Diagnostics accepts spaces around what it asks for', { tag: '@browser' }, async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme', product: 'studio' });
  await desk.goto('/#/licenses?open=1&tab=explain');
  const inspector = desk.getByRole('complementary', { name: 'Acme' });
  await inspector.getByLabel('Device fingerprint').fill(` ${FINGERPRINT} `);
  await inspector.getByLabel('Product').fill('studio ');
  await inspector.getByRole('button', { name: 'Check', exact: true }).click();
  await expect(inspector.getByRole('region', { name: 'Result' })).toBeVisible();
});

test(
  'spaces alone are no text, and a space after one is no problem',
  { tag: '@browser' },
  async ({ page, server }) => {
    await page.goto(server.firstLink);
    const product = page.getByLabel('Product ID');
    const next = page.getByRole('button', { name: 'Next' });
    await product.fill('  ');
    await next.click();
    await expect(page.getByText('This field is required.')).toBeVisible();
    await product.fill('My studio');
    await next.click();
    await expect(page.getByText('The format is not valid.')).toBeVisible();
    await product.fill('studio ');
    await product.blur();
    await expect(product).toHaveValue('studio');
    await expect(page.getByText('The format is not valid.')).toHaveCount(0);
    await next.click();
    await expect(page.getByRole('heading', { name: 'Network access' })).toBeVisible();
  },
);
