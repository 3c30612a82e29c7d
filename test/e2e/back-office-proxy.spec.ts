// The page over HTTPS through a proxy, in the browser of an administrator on another machine.
import { expectAccessible } from './accessibility.ts';
import { startServer } from './server.ts';
import { expect, test } from './test.ts';
import { startTlsProxy } from './tls-proxy.ts';

test('the back office through a proxy', { tag: '@browser' }, async ({ browser }) => {
  const proxy = await startTlsProxy();
  // Chromium resolves names below localhost to loopback.
  const origin = `https://desk.localhost:${proxy.port}`;
  const server = await startServer(['--admin-url', origin]);
  proxy.passTo(server.origin);
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  try {
    // What to run, and which of the links to open.
    await page.goto(origin);
    await expect(page.getByText(`open --data-dir ${server.dataDir}`)).toBeVisible();
    await expect(
      page.getByRole('heading', { name: `Open the link to ${origin} that it prints` }),
    ).toBeVisible();
    await expect(page.getByText('The back office of this server')).toHaveCount(0);
    await expectAccessible(page);

    const [local, proxied = ''] = (await server.link()).split('\n');
    expect(local).toContain(server.origin);
    await page.goto(proxied);
    await page.getByRole('button', { name: 'Skip setup' }).click();
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
    expect(await context.cookies()).toMatchObject([
      { name: `__Host-license_desk_session_${proxy.port}`, secure: true, httpOnly: true, sameSite: 'Strict' },
    ]);

    // A change that a command makes appears on the open page.
    await page.goto(`${origin}/#/licenses`);
    await expect(page.getByRole('heading', { name: 'Licenses', exact: true })).toBeVisible();
    await server.cli('license', 'create', '--holder', 'Nordwind Forensik');
    await expect(page.getByText('Nordwind Forensik')).toBeVisible();

    await page.goto(`${origin}/#/settings`);
    await expect(page.getByLabel('Back office URL')).toHaveValue(origin);
    await expect(page.getByLabel('Admin address')).toHaveValue('127.0.0.1');
    await page.getByLabel('Admin address').fill('0.0.0.0');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await expect(page.getByText('The back office is open to the network without TLS.')).toBeVisible();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    await page.reload();
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  } finally {
    await context.close();
    await server.dispose();
    await proxy.close();
  }
});
