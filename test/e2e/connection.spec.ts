import { expect, issueLicense, test } from './test.ts';

test('a hanging server is reported, and the page reconnects', async ({ desk, server }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.reload();
  const licenses = desk.getByRole('region', { name: 'Licenses', exact: true });
  await expect(licenses).toContainText('1 in total');

  server.pause();
  const banner = desk.getByRole('alert');
  await expect(banner).toContainText(/No connection to the server since \d\d:\d\d:\d\d/u, {
    timeout: 15_000,
  });
  const health = desk.getByRole('region', { name: 'Health' });
  await expect(health).toContainText('Not responding');
  await expect(health).not.toContainText('Running');
  // Earlier data stays visible.
  await expect(licenses).toContainText('1 in total');

  server.resume();
  await expect(banner).toHaveCount(0, { timeout: 15_000 });
  await expect(health).not.toContainText('Not responding');
  await expect(health).toContainText('Running');
});

test(
  'a crashed and restarted server requires a new sign-in',
  { tag: '@browser' },
  async ({ desk, server }) => {
    await server.crash();
    await expect(desk.getByRole('alert')).toContainText('No connection to the server', { timeout: 15_000 });
    await server.startAgain();
    await expect(desk.getByRole('heading', { name: 'Sign in' })).toBeVisible({ timeout: 15_000 });
    await expect(desk.getByRole('alert')).toHaveCount(0);
    await desk.goto(await server.link());
    await expect(desk.getByRole('heading', { name: 'Overview' })).toBeVisible();
  },
);

test('a list that failed to load fills when the server is back', async ({ desk, server }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.route('**/admin/api/**', (route) => route.abort());
  await desk.goto('/#/licenses');
  await expect(desk.getByRole('alert').first()).toContainText('No connection to the server', {
    timeout: 15_000,
  });
  await desk.unroute('**/admin/api/**');
  await expect(desk.getByRole('gridcell', { name: 'Acme', exact: true })).toBeVisible({ timeout: 15_000 });
  await expect(desk.getByRole('alert')).toHaveCount(0);
  expect(desk.url()).toBe(`${server.origin}/#/licenses`);
});
