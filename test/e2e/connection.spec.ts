import { expect, issueLicense, test } from './test.ts';

test('a hanging server is reported, and the page reconnects', async ({ desk, server }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.reload();
  const activity = desk.getByRole('region', { name: 'Activity' });
  await expect(activity).toContainText('Acme');

  server.pause();
  const banner = desk.getByRole('alert');
  await expect(banner).toContainText(/No connection to the server since \d\d:\d\d:\d\d/u);
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

test('a list that failed to load fills when the server is back', async ({ desk, server }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.route('**/admin/api/**', (route) => route.abort());
  await desk.goto('/#/licenses');
  await expect(desk.getByRole('alert').first()).toContainText('No connection to the server');
  await expect(desk.getByText('The licenses could not be loaded')).toBeVisible();
  await desk.unroute('**/admin/api/**');
  await expect(desk.getByRole('gridcell', { name: 'Acme', exact: true })).toBeVisible();
  await expect(desk.getByRole('alert')).toHaveCount(0);
  expect(desk.url()).toBe(`${server.origin}/#/licenses`);
});
