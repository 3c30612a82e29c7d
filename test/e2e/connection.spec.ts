import { expectAccessible } from './accessibility.ts';
import { holdReply } from './held-reply.ts';
import { chooseAction, expect, importLicenses, issueLicense, test } from './test.ts';

const holders = (count: number) => Array.from({ length: count }, (_, index) => `Nordwind ${index + 1}`);

test('a hanging server is reported, and the page reconnects', async ({ desk, server }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.reload();
  const activity = desk.getByRole('region', { name: 'Activity' });
  await expect(activity).toContainText('Acme');

  server.pause();
  const banner = desk.getByRole('alert');
  await expect(banner).toContainText(/No connection to the server since today, \d\d:\d\d:\d\d UTC\./u);
  const health = desk.getByRole('region', { name: 'Health' });
  await expect(health).toContainText('API: Failing');
  await expect(health).not.toContainText('Running');
  // Earlier data stays visible.
  await expect(activity).toContainText('Acme');

  server.resume();
  await expect(banner).toHaveCount(0);
  await expect(health).not.toContainText('Failing');
  await expect(health).toContainText('Running');
});

test(
  'a crashed and restarted server signs nobody out and discards no draft',
  { tag: '@browser' },
  async ({ desk, server }) => {
    await desk.goto('/#/licenses');
    await desk.getByRole('button', { name: 'New license' }).click();
    const dialog = desk.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Holder' }).fill('Nordwind Forensik GmbH');

    await server.crash();
    await expect(desk.getByText(/No connection to the server/u)).toBeVisible();
    await server.startAgain();
    await expect(desk.getByText(/No connection to the server/u)).toHaveCount(0);

    await expect(dialog.getByRole('textbox', { name: 'Holder' })).toHaveValue('Nordwind Forensik GmbH');
    await desk.keyboard.press('Enter');
    await expect(desk.getByRole('row').filter({ hasText: 'Nordwind' })).toHaveCount(1);
  },
);

test('a session that has ended asks for a new sign-in', { tag: '@browser' }, async ({ desk, server }) => {
  await server.cli('session', 'end', '--all');
  await desk.reload();
  await expect(desk.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await desk.goto(await server.link());
  await expect(desk.getByRole('heading', { name: 'Overview' })).toBeVisible();
});

test('a draft survives the end of the session', { tag: '@browser' }, async ({ desk, server }) => {
  await desk.goto('/#/licenses');
  await desk.getByRole('button', { name: 'New license' }).click();
  const holder = desk.getByRole('dialog', { name: 'New license' }).getByRole('textbox', { name: 'Holder' });
  await holder.fill('Nordwind Forensik GmbH');
  await server.cli('session', 'end', '--all');
  await desk.keyboard.press('Enter');
  await expect(desk.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await expect(desk.getByLabel('Already have a link?')).toBeFocused();
  // What was open is covered and cannot be reached.
  await desk.keyboard.press('Escape');
  await desk.keyboard.press('Escape');
  await desk.keyboard.press('Control+k');
  await expect(desk.getByRole('dialog', { name: 'Search' })).toHaveCount(0);
  const inFront = await desk.evaluate(() => {
    const parts = [0.01, 0.25, 0.5, 0.75, 0.99];
    const at = (x: number, y: number) => document.elementFromPoint(innerWidth * x, innerHeight * y);
    return parts.flatMap((x) => parts.map((y) => at(x, y)?.closest('dialog')?.ariaLabel));
  });
  expect(new Set(inFront)).toEqual(new Set(['Sign in']));
  await expect(holder).toHaveCount(0);
  await expectAccessible(desk);

  await desk.getByLabel('Already have a link?').fill(await server.link());
  await desk.getByRole('button', { name: 'Sign in' }).click();
  await expect(desk.getByRole('heading', { name: 'Sign in' })).toHaveCount(0);
  await expect(holder).toBeFocused();
  await expect(holder).toHaveValue('Nordwind Forensik GmbH');
  await desk.keyboard.press('Enter');
  await expect(desk.getByRole('row').filter({ hasText: 'Nordwind' })).toHaveCount(1);

  // Signing out leaves nothing behind.
  await desk.getByRole('button', { name: 'Done' }).click();
  await desk.getByRole('button', { name: 'New license' }).click();
  await holder.fill('Secret');
  await desk.keyboard.press('Escape');
  await desk.getByRole('button', { name: 'Sign out' }).click();
  await expect(desk.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await expect(desk.locator('.frame')).toHaveCount(0);
});

test(
  'while the session has ended, nothing of the page can be read, and afterwards it is as it was',
  { tag: '@browser' },
  async ({ desk, server }) => {
    await importLicenses(desk, holders(120));
    await desk.goto('/#/licenses?open=60');
    const inspector = desk.getByRole('complementary', { name: 'Nordwind 60' });
    await expect(inspector).toBeVisible();
    const grid = desk.getByRole('grid', { name: 'Licenses' });
    await grid.evaluate((element) => element.scrollTo({ top: 1500 }));
    await expect(grid.getByRole('row').filter({ hasText: 'Nordwind 70' })).toBeVisible();
    const scrolled = await grid.evaluate(({ scrollTop }) => scrollTop);
    await chooseAction(inspector, 'Edit');
    const edit = desk.getByRole('dialog', { name: 'Edit license' });
    await edit.getByLabel('Notes').fill('Nordwind called back');
    const tooltip = desk.getByRole('tooltip', { name: 'Dismiss' });
    await desk.getByRole('button', { name: 'Dismiss' }).hover();
    await expect(tooltip.first()).toBeVisible();

    await server.cli('session', 'end', '--all');
    await expect(desk.getByRole('dialog', { name: 'Sign in' })).toBeVisible();
    const read = () =>
      desk.evaluate(() => {
        const fields = [...document.querySelectorAll<HTMLInputElement>('input, textarea, select')];
        return [document.documentElement.outerHTML, ...fields.map(({ value }) => value)].join('\n');
      });
    expect(await read()).not.toContain('Nordwind');
    expect(await read()).not.toMatch(/[0-9A-Z]{5}(?:-[0-9A-Z]{5}){2}/u);
    await expect(tooltip).toHaveCount(0);

    await desk.getByLabel('Already have a link?').fill(await server.link());
    await desk.getByRole('button', { name: 'Sign in' }).click();
    await expect(edit.getByLabel('Notes')).toHaveValue('Nordwind called back');
    expect(await edit.evaluate((element) => element.matches(':modal'))).toBe(true);
    await expect(edit.getByLabel('Notes')).toBeFocused();
    expect(await grid.evaluate(({ scrollTop }) => scrollTop)).toBe(scrolled);
    await edit.getByRole('button', { name: 'Save' }).click();
    await expect(inspector).toContainText('Nordwind called back');
    await expect(grid.getByRole('row').filter({ hasText: 'Nordwind 70' })).toBeVisible();
  },
);

test(
  'a row of a list that had the focus when the session ended has it again',
  { tag: '@browser' },
  async ({ desk, server }) => {
    await importLicenses(desk, holders(60));
    await desk.goto('/#/licenses');
    await desk.getByRole('grid', { name: 'Licenses' }).getByRole('row').nth(1).press('End');
    const last = desk.locator('[data-index="59"]');
    await expect(last).toBeFocused();
    await server.cli('session', 'end', '--all');
    await expect(desk.getByRole('dialog', { name: 'Sign in' })).toBeVisible();
    await desk.getByLabel('Already have a link?').fill(await server.link());
    await desk.getByRole('button', { name: 'Sign in' }).click();
    await expect(last).toBeFocused();
  },
);

test(
  'what was open when the session ended can be discarded by the next administrator',
  { tag: '@browser' },
  async ({ desk, server, context }) => {
    const other = await context.newPage();
    await other.goto('/#/licenses');
    await expect(other.getByRole('heading', { name: 'Licenses' })).toBeVisible();
    await desk.goto('/#/licenses');
    await desk.getByRole('button', { name: 'New license' }).click();
    const dialog = desk.getByRole('dialog', { name: 'New license' });
    await dialog.getByRole('textbox', { name: 'Holder' }).fill('Nordwind Forensik GmbH');
    await server.cli('session', 'end', '--all');
    await expect(desk.getByRole('dialog', { name: 'Sign in' })).toBeVisible();
    await expect(other.getByRole('dialog', { name: 'Sign in' })).toBeVisible();
    await desk.getByRole('button', { name: 'Discard open drafts' }).click();
    for (const page of [desk, other]) {
      await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
      await expect(page.getByRole('dialog')).toHaveCount(0);
    }
    await desk.getByLabel('Already have a link?').fill(await server.link());
    await desk.getByRole('button', { name: 'Sign in' }).click();
    await expect(desk.getByRole('heading', { name: 'Licenses' })).toBeVisible();
    await expect(dialog).toHaveCount(0);
    await desk.getByRole('button', { name: 'New license' }).click();
    await expect(dialog.getByRole('textbox', { name: 'Holder' })).toHaveValue('');
  },
);

test(
  'a dialog whose code cannot be loaded says so, and opens later',
  { tag: '@browser' },
  async ({ desk }) => {
    const code = /\/assets\/CreateLicenseDialog-[^/]*\.js/u;
    await desk.route(code, (route) => route.abort());
    await desk.goto('/#/licenses');
    const create = desk.getByRole('button', { name: 'New license' });
    await create.click();
    await expect(desk.getByRole('log')).toContainText('This part of the page could not be loaded.');
    await expect(desk.getByRole('dialog')).toHaveCount(0);
    await desk.unroute(code);
    await create.click();
    await expect(desk.getByRole('dialog', { name: 'New license' })).toBeVisible();
  },
);

test('the reply to a health check from before the sign-out does not sign in again', async ({ desk }) => {
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const checks: string[] = [];
  await desk.route('**/admin/api/health/', async (route) => {
    const reply = await route.fetch();
    checks.push(String(reply.status()));
    await held;
    await route.fulfill({ response: reply });
  });
  await expect.poll(() => checks).toEqual(['200']);
  await desk.getByRole('button', { name: 'Sign out' }).click();
  const heading = desk.getByRole('heading', { name: 'Sign in' });
  await expect(heading).toBeVisible();
  const replied = desk.waitForResponse('**/admin/api/health/');
  const asked = desk.waitForRequest('**/admin/api/health/');
  answer();
  await (await replied).finished();
  // The next check is sent after the reply was handled.
  await asked;
  await expect(heading).toBeVisible();
  await expect(desk.locator('.frame')).toHaveCount(0);
});

test('a sign-out leaves nothing behind in other tabs', { tag: '@browser' }, async ({ desk, context }) => {
  await issueLicense(desk, { holder: 'Acme' });
  const other = await context.newPage();
  await other.goto('/#/licenses?open=1');
  await expect(other.getByRole('complementary', { name: 'Acme' })).toBeVisible();
  await desk.getByRole('button', { name: 'Sign out' }).click();
  await expect(other.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await expect(other.locator('.frame')).toHaveCount(0);
});

for (const isRepeated of [true, false])
  test(
    `a sign-out whose reply is lost leaves nothing behind either${isRepeated ? ', if it is tried again' : ''}`,
    { tag: '@browser' },
    async ({ desk, context }) => {
      const other = await context.newPage();
      await other.goto('/#/licenses?new=1');
      await other.getByRole('dialog').getByLabel('Holder').fill('Secret');
      // Tells the page that the session has ended.
      const check = await holdReply(desk, 'health/', 'GET');
      await check.asked;
      let isLost = false;
      await desk.route('**/admin/api/session/', async (route) => {
        if (isLost || route.request().method() !== 'DELETE') return route.continue();
        isLost = true;
        await route.fetch();
        return route.abort();
      });
      const signOut = desk.getByRole('button', { name: 'Sign out' });
      const lost = desk.waitForEvent('requestfailed');
      await signOut.click();
      await lost;
      if (isRepeated) await signOut.click();
      check.release();
      for (const page of [desk, other]) {
        await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
        await expect(page.getByRole('button', { name: 'Discard' })).toHaveCount(0);
        await expect(page.locator('.frame')).toHaveCount(0);
      }
    },
  );

test(
  'a lost connection is shown above the sign-in that covers a page',
  { tag: '@browser' },
  async ({ desk, server }) => {
    await desk.goto('/#/licenses');
    await server.cli('session', 'end', '--all');
    const signIn = desk.getByRole('dialog', { name: 'Sign in' });
    await expect(signIn).toBeVisible();
    server.pause();
    await expect(signIn.getByRole('alert')).toHaveText('Cannot connect to the server. Retrying…');
    server.resume();
    await expect(signIn.getByRole('alert')).toHaveCount(0);
  },
);

test('a list that failed to load fills when the server is back', async ({ desk, server }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.route('**/admin/api/**', (route) => route.abort());
  await desk.goto('/#/licenses');
  await expect(desk.getByRole('alert').first()).toContainText('No connection to the server');
  await expect(desk.getByText('The licenses could not be loaded')).toBeVisible();
  await desk.unroute('**/admin/api/**');
  await expect(desk.getByRole('gridcell', { name: 'Acme', exact: true })).toBeVisible();
  await expect(desk.getByRole('alert')).toHaveCount(0);
  await expect(desk).toHaveURL(`${server.origin}/#/licenses`);
});
