import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { holdReply, holdRequests } from './held-reply.ts';
import type { TestServer } from './server.ts';
import { task } from './tasks.ts';
import { alertWith, expect, expectBriefly, test } from './test.ts';

const INITIAL_SETUP = { name: 'Initial setup' };

test(
  'the initial setup says that changed settings need a restart',
  { tag: '@browser' },
  async ({ page, server }) => {
    await page.goto(server.firstLink);
    await expect(page.getByRole('heading', INITIAL_SETUP)).toBeVisible();
    await page.getByLabel('Product ID').fill('Not A Slug');
    await page.getByRole('button', { name: 'Next' }).click();
    await expect(page.getByLabel('Product ID')).toBeVisible();
    await page.getByLabel('Product ID').fill('studio');
    await expectAccessible(page);
    await page.keyboard.press('Enter');

    await expect(page.getByRole('heading', { name: 'Network access' })).toBeFocused();
    await page.getByLabel('All devices on the network').check();
    const warning = page.getByRole('status').filter({ hasText: 'Warning: License keys and tokens are sent' });
    await expect(warning.locator('svg')).toBeVisible();
    await expect(warning).toHaveCSS('border-top-style', 'solid');
    await page.setViewportSize({ width: 390, height: 844 });
    await expect(page.getByLabel('Built-in authority', { exact: false })).toHaveCSS('width', '16px');
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.getByLabel('Built-in authority', { exact: false }).check();
    await expect(warning).toHaveCount(0);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Next' }).click();

    await expect(page.getByRole('heading', { name: 'First plan' })).toBeFocused();
    await page.goBack();
    await expect(page.getByRole('heading', { name: 'Network access' })).toBeFocused();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Back' }).click();
    await expect(page.getByRole('heading', { name: 'Network access' })).toBeFocused();
    await page.reload();
    await expect(page.getByRole('heading', { name: 'Network access' })).toBeVisible();
    await expect(page.getByLabel('All devices on the network')).toBeChecked();
    await page.goBack();
    await expect(page.getByLabel('Product ID')).toHaveValue('studio');
    await page.goForward();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('New plan').check();
    await page.getByLabel('Name').fill('standard');
    await page.getByRole('button', { name: 'Finish' }).click();
    await expect(alertWith(page, 'a plan named')).toBeVisible();
    await page.getByLabel('Name').fill('seat');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Finish' }).click();

    // Nothing is promised that holds only after the restart.
    await expect(page.getByRole('heading', { name: 'Restart the server to finish' })).toBeVisible();
    await expect(page.getByRole('status').first()).toContainText('stop the server and start it again');
    await expect(page.getByRole('button', { name: 'Copy: Command' })).toHaveCount(0);
    await expect(page.getByText('The API is ready')).toHaveCount(0);
    await expectAccessible(page);

    // The setup does not open again, and the settings apply at the next start.
    await page.goto(`${server.origin}/#/overview`);
    await page.reload();
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
    await expect(page.getByRole('region', { name: 'API address' })).toContainText('http://127.0.0.1');
    const { settings } = (await (await page.request.get('/admin/api/settings/')).json()) as {
      settings: { name: string; next_value: string }[];
    };
    const next = Object.fromEntries(settings.map(({ name, next_value: value }) => [name, value]));
    expect(next).toMatchObject({ default_product: 'studio', host: '0.0.0.0', tls: 'auto' });
  },
);

test('the initial setup can be skipped and opened again', async ({ page, server }) => {
  await page.goto(server.firstLink);
  await page.getByRole('button', { name: 'Skip setup' }).click();
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  await page.reload();
  await expect(page.getByText('No licenses yet')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  await page.getByRole('link', INITIAL_SETUP).click();
  await expect(page.getByRole('heading', INITIAL_SETUP)).toBeVisible();
});

for (const isReloaded of [false, true])
  test(
    `the initial setup keeps a setting that was changed elsewhere${isReloaded ? ' before a reload' : ''}`,
    { tag: '@browser' },
    async ({ page, server }) => {
      await page.goto(server.firstLink);
      await expect(page.getByLabel('Product ID')).toBeVisible();
      await page.getByLabel('Product ID').fill('studio');
      const saved = await page.request.put('/admin/api/settings/', { data: { changes: { tls: 'auto' } } });
      expect(saved.ok(), await saved.text()).toBe(true);
      if (isReloaded) await page.reload();
      await page.getByRole('button', { name: 'Next' }).click();
      await expect(page.getByLabel('Built-in authority', { exact: false })).toBeChecked();
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByRole('button', { name: 'Finish' }).click();
      await expect(page.getByRole('heading', { name: 'Restart the server to finish' })).toBeVisible();
      const { settings } = (await (await page.request.get('/admin/api/settings/')).json()) as {
        settings: { name: string; next_value: string }[];
      };
      const next = Object.fromEntries(settings.map(({ name, next_value: value }) => [name, value]));
      expect(next).toMatchObject({ default_product: 'studio', tls: 'auto' });
    },
  );

/** Asks for Plans, whose code is held until `release()`. */
async function askForPlans(page: Page): Promise<{ release(): void }> {
  const { asked, release } = await holdRequests(page, '**/assets/PlansPage-*.js');
  await page.getByRole('link', { name: 'Plans', exact: true }).click();
  await asked;
  return { release };
}

async function releaseReply(page: Page, { release }: { release(): void }): Promise<void> {
  const replied = page.waitForResponse('**/admin/api/first-run/**');
  release();
  await (await replied).finished();
}

test('skipping the initial setup leads nowhere after another screen was opened', async ({ page, server }) => {
  await page.goto(server.firstLink);
  await expect(page.getByRole('heading', INITIAL_SETUP)).toBeVisible();
  const reply = await holdReply(page, 'first-run/finish/');
  await page.getByRole('button', { name: 'Skip setup' }).click();
  await reply.asked;
  await page.getByRole('link', { name: 'Licenses', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Licenses', exact: true })).toBeVisible();
  await releaseReply(page, reply);
  await page.getByRole('link', { name: 'Audit', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Audit' })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('heading', { name: 'Licenses', exact: true })).toBeVisible();
});

test('skipping the initial setup does not cancel opening another screen', async ({ page, server }) => {
  await page.goto(server.firstLink);
  await expect(page.getByRole('heading', INITIAL_SETUP)).toBeVisible();
  const reply = await holdReply(page, 'first-run/finish/');
  await page.getByRole('button', { name: 'Skip setup' }).click();
  await reply.asked;
  const plans = await askForPlans(page);
  await releaseReply(page, reply);
  plans.release();
  await expect(page.getByRole('heading', { name: 'Plans', exact: true })).toBeVisible();
});

test('the initial setup does not open while another screen is loading', async ({ page, server }) => {
  const reply = await holdReply(page, 'first-run/', 'GET');
  await page.goto(server.firstLink);
  await reply.asked;
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  const plans = await askForPlans(page);
  await releaseReply(page, reply);
  plans.release();
  await expect(page.getByRole('heading', { name: 'Plans', exact: true })).toBeVisible();
});

/** To the last step of the initial setup. */
async function openPlanStep(page: Page, server: TestServer): Promise<void> {
  await page.goto(server.firstLink);
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(page.getByRole('heading', { name: 'Network access' })).toBeVisible();
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(page.getByRole('heading', { name: 'First plan' })).toBeVisible();
}

async function expectLicenseOf(page: Page, plan: string): Promise<void> {
  await page.getByRole('button', { name: 'Finish' }).click();
  await expect(page.getByRole('heading', { name: 'The API is ready' })).toBeVisible();
  const { items } = (await (await page.request.get('/admin/api/licenses/')).json()) as {
    items: { plan: string }[];
  };
  expect(items.map((license) => license.plan)).toEqual([plan]);
}

test(
  'the initial setup takes the plan that was chosen after an error',
  { tag: '@browser' },
  async ({ page, server }) => {
    await openPlanStep(page, server);
    const licenses = '**/admin/api/licenses/';
    await page.route(licenses, (route) => route.abort());
    await page.getByRole('button', { name: 'Finish' }).click();
    await expect(alertWith(page, 'The server did not respond.')).toBeVisible();
    await page.getByLabel('New plan').check();
    await page.getByLabel('Name').fill('team');
    await page.getByRole('button', { name: 'Finish' }).click();
    await expect(page.getByRole('radio', { name: 'team' })).toBeVisible();
    await page.unroute(licenses);
    // The plan is there: it is not created again.
    await expectLicenseOf(page, 'team');
  },
);

test(
  'a second try to finish the initial setup issues no second license',
  { tag: '@browser' },
  async ({ page, server }) => {
    await openPlanStep(page, server);
    const licenses = '**/admin/api/licenses/';
    await page.route(licenses, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      return route.abort();
    });
    await page.getByRole('button', { name: 'Finish' }).click();
    await expect(alertWith(page, 'The server did not respond.')).toBeVisible();
    await page.unroute(licenses);
    await expectLicenseOf(page, 'standard');
  },
);

test(
  'the initial setup issues a license for a plan whose creation was answered too late',
  { tag: '@browser' },
  async ({ page, server }) => {
    await openPlanStep(page, server);
    const plans = '**/admin/api/plans/';
    await page.route(plans, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      return route.abort();
    });
    await page.getByLabel('New plan').check();
    await page.getByLabel('Name').fill('team');
    await page.getByRole('button', { name: 'Finish' }).click();
    await expect(alertWith(page, 'The server did not respond.')).toBeVisible();
    await page.unroute(plans);
    await page.getByRole('button', { name: 'Finish' }).click();
    await expect(alertWith(page, 'a plan named')).toBeVisible();
    await page.getByRole('radio', { name: 'team' }).check();
    await expectLicenseOf(page, 'team');
  },
);

test('the initial setup ends with a working API', { tag: '@browser' }, async ({ page, server, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(server.firstLink);
  await task(page, 'set up the server and call it', async () => {
    for (const title of ['Product', 'Network access']) {
      await expect(page.getByRole('heading', { name: title, exact: true })).toBeVisible();
      await page.getByRole('button', { name: 'Next' }).click();
    }
    await page.getByRole('button', { name: 'Finish' }).click();
    await expect(page.getByRole('heading', { name: 'The API is ready' })).toBeVisible();
    const copy = page.getByRole('button', { name: 'Copy: Command' });
    await expectBriefly(copy, 'Copied', () => copy.click());
  });
  const line = await page.evaluate(() => navigator.clipboard.readText());
  const { stdout } = await promisify(execFile)('sh', ['-c', line]);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    license: { holder: 'Test license', plan: 'standard', state: 'active' },
  });
});

test('the initial setup shows a command that works for a floating license', async ({
  page,
  server,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openPlanStep(page, server);
  const made = await page.request.post('/admin/api/plans/', {
    data: { name: 'pool', licensing: 'floating', seats: 25, count_by: 'user_host' },
  });
  expect(made.ok(), await made.text()).toBe(true);
  await page.getByRole('radio', { name: /^pool: .*25 floating seats$/u }).check();
  await page.getByRole('button', { name: 'Finish' }).click();
  await expect(page.getByText('to check out a seat of the license of Test license:')).toBeVisible();
  const copy = page.getByRole('button', { name: 'Copy: Command' });
  await expectBriefly(copy, 'Copied', () => copy.click());
  const line = await page.evaluate(() => navigator.clipboard.readText());
  const { stdout } = await promisify(execFile)('sh', ['-c', line]);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, pool: { total: 25, in_use: 1 } });
});
