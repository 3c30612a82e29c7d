// Days are entered as they are shown: in UTC, wherever the browser is.
import { expect, issueLicense, test } from './test.ts';

for (const timezoneId of ['America/New_York', 'Asia/Tokyo'])
  test.describe(timezoneId, () => {
    test.use({ timezoneId });

    test('a license and a token end with the last day that was entered', async ({ desk }) => {
      const key = await issueLicense(desk, { holder: 'Acme' });
      await desk.goto('/#/licenses?open=1');
      const inspector = desk.getByRole('complementary', { name: 'Acme' });
      await inspector.getByRole('button', { name: 'Renew' }).click();
      const dialog = desk.getByRole('dialog');
      await dialog.getByLabel('Extend').selectOption('Until a date');
      await dialog.getByLabel('Last day').fill('2037-12-31');
      await expect(dialog).toContainText(/New value\s*31 Dec 2037/u);
      await dialog.getByRole('button', { name: 'Renew' }).click();
      await expect(dialog).toHaveCount(0);
      await expect(inspector.getByText('31 Dec 2037').first()).toBeVisible();
      const shown = await desk.request.get(`/admin/api/licenses/show/?ref=${key}`);
      expect(await shown.json()).toMatchObject({ license: { expires_at: '2037-12-31T23:59:59.999Z' } });

      await desk.goto('/#/api-access');
      await desk.getByRole('button', { name: 'Create your first API token' }).click();
      await dialog.getByLabel('Name').fill('Office');
      await dialog.getByLabel('Expires').fill('2090-12-31');
      await dialog.getByRole('button', { name: 'Create token' }).click();
      await desk.getByRole('button', { name: 'I have saved it' }).click();
      await expect(desk.getByRole('row').filter({ hasText: 'Office' })).toContainText('31 Dec 2090');
    });

    test('filters select the days that the lists show', async ({ desk }) => {
      const audit = desk.waitForRequest(/\/audit\/\?.*to=/u);
      await desk.goto('/#/audit?from=2026-11-20&to=2026-11-21');
      const { searchParams: period } = new URL((await audit).url());
      expect(period.get('from')).toBe('2026-11-20T00:00:00.000Z');
      expect(period.get('to')).toBe('2026-11-22T00:00:00.000Z');
      for (const day of ['From: 20 Nov 2026', 'To: 21 Nov 2026'])
        await expect(desk.getByRole('button', { name: day })).toBeVisible();

      const failed = desk.waitForRequest(/\/deliveries\/\?.*since=/u);
      await desk.goto('/#/failed-events?since=2026-11-20');
      expect(new URL((await failed).url()).searchParams.get('since')).toBe('2026-11-20T00:00:00.000Z');
      await expect(desk.getByRole('button', { name: 'Since: 20 Nov 2026' })).toBeVisible();
    });
  });
