import type { Locator, Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { holdReply } from './held-reply.ts';
import { expect, issueLicense, test } from './test.ts';

const rows = (page: Page) =>
  page.getByRole('grid', { name: 'Authorization tokens' }).getByRole('rowgroup').getByRole('row');

async function pickLicense(place: Locator, holder: string): Promise<void> {
  await place.getByRole('combobox', { name: 'License' }).fill(holder);
  await place.getByRole('option', { name: holder }).click();
}

test('a token is issued, shown once, replaced with a warning, and revoked', async ({ desk, server }) => {
  await issueLicense(desk, { holder: 'Ústav soudního lékařství' });
  await desk.goto('/#/authorization-tokens');
  await desk.getByRole('button', { name: 'Issue your first token' }).click();
  const dialog = desk.getByRole('dialog');
  await expect(dialog.getByRole('button', { name: 'Issue' })).toBeDisabled();
  // By keyboard: Escape closes the list but not the dialog, and Enter chooses the active option.
  await desk.keyboard.type('soud');
  await expect(desk.getByRole('option', { name: 'Ústav soudního lékařství' })).toBeVisible();
  await desk.keyboard.press('Escape');
  await expect(dialog).toBeVisible();
  await desk.keyboard.type('n');
  await expect(desk.getByRole('option', { name: 'Ústav soudního lékařství' })).toBeVisible();
  await desk.keyboard.press('Enter');
  await expect(dialog.getByLabel('Product')).toHaveValue('my-product');
  await expect(dialog).toContainText('The license has no active token for this product.');
  await dialog.getByLabel('Name').fill('build server');
  await dialog.getByRole('button', { name: 'Issue' }).click();

  await expect(desk.getByRole('dialog', { name: 'Token issued' })).toBeVisible();
  const token = (await dialog.getByText(/^ldt_[\w-]{43}$/u).textContent()) ?? '';
  await expectAccessible(desk);
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await expect(desk.locator('body')).not.toContainText(token);
  expect(desk.url()).not.toContain('ldt_');
  const lastFour = token.slice(-4);
  await expect(rows(desk)).toHaveCount(1);
  await expect(rows(desk).getByRole('gridcell')).toHaveText([
    `…${lastFour}`,
    'build server',
    'Ústav soudního lékařství',
    'my-product',
    'Active',
    /^(?:today, \d\d:\d\d|\d+ \w+ \d{4})$/u,
    /^\d+ \w+ \d{4}$/u,
    'Never',
  ]);

  await desk.getByRole('button', { name: 'Issue token' }).click();
  await pickLicense(dialog, 'Ústav soudního lékařství');
  await expect(dialog).toContainText(`This replaces the active token “build server” (…${lastFour})`);
  await dialog.getByLabel('Product').fill('Not A Slug');
  await expect(dialog).not.toContainText('This replaces');
  await dialog.getByRole('button', { name: 'Issue' }).click();
  await expect(dialog.getByRole('alert')).toContainText(
    'Product must be 1 to 64 lowercase letters, digits or hyphens',
  );
  await dialog.getByLabel('Product').fill('my-product');
  await dialog.getByRole('button', { name: 'Issue and replace' }).click();
  await expect(dialog).toContainText(`The token …${lastFour} no longer works.`);
  const next = (await dialog.getByText(/^ldt_[\w-]{43}$/u).textContent()) ?? '';
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await expect(rows(desk)).toContainText(['Active', 'Replaced']);

  const ask = (given: string) =>
    fetch(`${server.api}authorize/token/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: given }),
    });
  expect((await ask(token)).status).toBe(401);
  expect((await ask(next)).status).toBe(200);

  await rows(desk).first().click();
  await expect(desk.getByRole('complementary').getByRole('link')).toHaveText('Ústav soudního lékařství');
  await expectAccessible(desk);
  await desk.getByRole('button', { name: 'Revoke' }).click();
  await expect(dialog).toContainText('denied from its next call');
  await dialog.getByLabel(/^Type .{4} to confirm$/u).fill(next.slice(-4));
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await expect(rows(desk)).toContainText(['Revoked', 'Replaced']);
  await expect(desk.getByRole('button', { name: 'Revoke' })).toHaveCount(0);
  expect((await ask(next)).status).toBe(401);
});

test('the list is filtered by license, and shows tokens that others issue', async ({ desk, server }) => {
  const key = await issueLicense(desk, { holder: 'Acme' });
  await issueLicense(desk, { holder: 'Fjord' });
  await desk.goto('/#/authorization-tokens');
  await expect(desk.getByText('No authorization tokens yet')).toBeVisible();
  await server.cli('token', 'issue', '--license', key);
  await expect(rows(desk)).toHaveCount(1);

  await pickLicense(desk.getByRole('main'), 'Fjord');
  await expect(desk.getByText('No authorization tokens match')).toBeVisible();
  await desk.reload();
  await expect(desk.getByText('No authorization tokens match')).toBeVisible();
  await desk.getByRole('button', { name: /^Remove filter License/u }).click();
  await expect(rows(desk)).toHaveCount(1);
});

test('Enter takes the license that the text in the field finds, not the one found before', async ({
  desk,
}) => {
  await issueLicense(desk, { holder: 'Acme Robotics' });
  await issueLicense(desk, { holder: 'Acme Tools' });
  await desk.goto('/#/authorization-tokens');
  await desk.getByRole('button', { name: 'Issue token' }).click();
  const dialog = desk.getByRole('dialog');
  const field = dialog.getByRole('combobox', { name: 'License' });
  await field.fill('acme');
  // The newest comes first.
  await expect(dialog.getByRole('option')).toHaveText([/^Acme Tools/u, /^Acme Robotics/u]);
  const { asked, release } = await holdReply(desk, 'licenses/', 'GET');
  await field.fill('acme robotics');
  await expect(dialog.getByRole('option')).toHaveCount(0);
  await field.press('Enter');
  await asked;
  await expect(field).toHaveValue('acme robotics');
  release();
  await expect(field).toHaveValue(/^Acme Robotics · /u);
  await expect(dialog).toContainText('The license has no active token for this product.');
});

test('a token opens by its address, wherever it is in the list', async ({ desk }) => {
  const license = await issueLicense(desk, { holder: 'Acme' });
  const issueToken = async (product: string) => {
    const response = await desk.request.post('/admin/api/tokens/', { data: { license, product } });
    expect(response.ok(), await response.text()).toBe(true);
    const { authorization_token: token } = (await response.json()) as {
      authorization_token: { id: number; last_four: string };
    };
    return token;
  };
  const first = await issueToken('imager');
  for (let later = 0; later < 100; later += 1) await issueToken('viewer');
  const revoked = await desk.request.post('/admin/api/tokens/revoke/', { data: { id: first.id } });
  expect(revoked.ok(), await revoked.text()).toBe(true);
  await desk.goto('/#/audit');
  await desk.getByRole('row').filter({ hasText: 'token.revoked' }).click();
  await desk.getByRole('link', { name: `token:${first.id}` }).click();
  const inspector = desk.getByRole('complementary');
  await expect(inspector.getByRole('heading', { level: 2 })).toContainText(first.last_four);
  await expect(inspector).toContainText('Revoked');

  await desk.goto('/#/authorization-tokens?open=999999');
  await expect(inspector.getByRole('alert')).toContainText('authorization token 999999 not found');
});
