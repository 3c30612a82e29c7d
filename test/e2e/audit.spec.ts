import { readFile } from 'node:fs/promises';
import { expectAccessible } from './accessibility.ts';
import { goTo, task } from './tasks.ts';
import { expect, importLicenses, issueLicense, test } from './test.ts';

test('audit entries are filtered, read and downloaded', { tag: '@browser' }, async ({ desk, server }) => {
  await issueLicense(desk, { holder: '=Evil & Söhne' });
  const key = await issueLicense(desk, { holder: 'Acme' });
  await server.cli('license', 'renew', key, '--days', '10');
  await server.cli('license', 'revoke', key, '--reason', 'chargeback');
  await desk.goto('/#/audit');
  const rows = desk.getByRole('grid', { name: 'Audit' }).getByRole('row');
  await expect(rows.filter({ hasText: 'license.created' })).toHaveCount(2);

  const inspector = desk.getByRole('complementary', { name: 'license.revoked' });
  await desk.goto('/#/overview');
  await task(desk, 'find out who revoked a license', async () => {
    await goTo(desk, 'Audit');
    await desk.getByRole('combobox', { name: 'Action' }).selectOption('license.revoked');
    await expect(rows).toHaveCount(2);
    const revoked = rows.nth(1);
    await expect(revoked).toContainText('Command line');
    await expect(revoked).toContainText('(claimed)');
    await revoked.click();
    await expect(inspector).toBeVisible();
  });
  const reason = inspector.getByRole('row').filter({ hasText: 'revoke_reason' });
  await expect(reason.getByRole('cell')).toHaveText(['null', 'chargeback']);
  await expect(inspector.getByRole('row').filter({ hasText: 'holder' })).toHaveCount(0);
  await inspector.getByLabel('Show unchanged fields').check();
  await expect(inspector.getByRole('row').filter({ hasText: 'holder' })).toContainText('Acme');
  await expectAccessible(desk);

  // Times are dates, here and in the list.
  const at = inspector.getByRole('row').filter({ hasText: 'revoked_at' }).locator('time');
  await expect(at).toHaveText(/^today, \d\d:\d\d:\d\d$/u);
  await expect(at).toHaveAttribute('title', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/u);
  await expect(rows.nth(1).locator('time')).toHaveText(/^today, \d\d:\d\d$/u);

  await desk.reload();
  await expect(rows).toHaveCount(2);
  await inspector.getByRole('button', { name: 'All entries for this subject' }).click();
  await desk.getByRole('combobox', { name: 'Action' }).selectOption('All license actions');
  await expect(rows).toHaveCount(4);
  await desk.getByLabel('To', { exact: true }).fill('2001-01-01');
  await expect(desk.getByText('No entries match')).toBeVisible();
  await desk.getByRole('button', { name: 'Clear filters' }).last().click();

  await desk.getByRole('combobox', { name: 'Action' }).selectOption('license.created');
  await expect(rows).toHaveCount(3);
  const downloading = desk.waitForEvent('download');
  await desk.getByRole('link', { name: 'Download CSV' }).click();
  const csv = await readFile(await (await downloading).path(), 'utf8');
  const lines = csv.trimEnd().split('\r\n');
  expect(lines[0]).toBe(
    '\ufeffid,at,actor_kind,actor_name,action,subject,before,after,request_id,actor_claimed',
  );
  expect(lines.slice(1).map((line) => line.includes('license.created'))).toEqual([true, true]);
});

test('an entry opens by its URL, wherever it is in the list', async ({ desk }) => {
  await issueLicense(desk, { holder: 'First of all' });
  const reply = await desk.request.get('/admin/api/audit/?action=license.created');
  const [first] = ((await reply.json()) as { items: { id: number }[] }).items;
  await importLicenses(
    desk,
    Array.from({ length: 120 }, (_, number) => `Later ${number}`),
  );
  await desk.goto(`/#/audit?open=${first?.id}`);
  const inspector = desk.getByRole('complementary', { name: 'license.created' });
  await expect(inspector.getByRole('row').filter({ hasText: 'holder' })).toContainText('First of all');
  await desk.goto('/#/audit?open=999999');
  await expect(desk.getByText('audit entry 999999 not found')).toBeVisible();
});

test('a period may last until the end of the calendar', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('/#/audit?to=9999-12-31');
  await expect(desk.getByRole('row').filter({ hasText: 'license.created' })).toHaveCount(1);
  await expect(desk.getByLabel('To', { exact: true })).toHaveValue('9999-12-31');
});

test('a new entry appears without a reload', async ({ desk, server }) => {
  await desk.goto('/#/audit');
  await expect(desk.getByRole('row').filter({ hasText: 'license.created' })).toHaveCount(0);
  await server.cli('license', 'create', '--holder', 'Acme');
  await expect(desk.getByRole('row').filter({ hasText: 'license.created' })).toHaveCount(1);
});

test('what is being typed in a filter stays while entries arrive', async ({ desk, server }) => {
  await desk.goto('/#/audit');
  const actor = desk.getByRole('searchbox', { name: 'Actor' });
  await actor.pressSequentially('Dvor');
  await server.cli('license', 'create', '--holder', 'Acme');
  await expect(desk.getByRole('row').filter({ hasText: 'license.created' })).toHaveCount(1);
  await expect(actor).toHaveValue('Dvor');
  await actor.pressSequentially('akova ');
  await desk.keyboard.press('Enter');
  await expect(desk).toHaveURL(/[?&]actor=Dvorakova(?:&|$)/u);
  await expect(actor).toHaveValue('Dvorakova');
  await desk.getByRole('button', { name: 'Clear filters' }).last().click();
  await expect(actor).toHaveValue('');
});

for (const language of ['English', 'Deutsch'])
  test(`all filters are on one line at 1440 px, in ${language}`, async ({ desk }) => {
    await desk.setViewportSize({ width: 1440, height: 900 });
    await desk.getByLabel('Language').selectOption(language);
    await desk.goto('/#/audit');
    await expect(desk.locator('.tools :is(input, select)')).toHaveCount(6);
    const places = await desk
      .locator('.tools :is(input, select)')
      .evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().y));
    expect(new Set(places).size).toBe(1);
  });
