import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expectAccessible } from './accessibility.ts';
import { addFakeShell } from './fake-shell.ts';
import { alertWith, expect, test } from './test.ts';

const signInHeading = { name: 'Sign in' };

test('a link signs in, and its code disappears from the URL', async ({ page, server }) => {
  expect(new URL(server.firstLink).searchParams.get('code')).toMatch(/^[\w-]{20,}$/u);
  await page.goto(server.firstLink);
  // A new installation opens the initial setup.
  await expect(page.getByRole('heading', { name: 'Initial setup' })).toBeVisible();
  await expect(page).toHaveURL(`${server.origin}/#/first-run`);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Initial setup' })).toBeVisible();
});

test('the session cookie is not readable by scripts', async ({ desk, context }) => {
  expect(await desk.evaluate(() => document.cookie)).toBe('');
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
});

test('a link works once and reports a second use', async ({ desk, server, browser }) => {
  await expect(desk.getByRole('heading', { name: 'Overview' })).toBeVisible();
  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(server.firstLink);
  await expect(stranger.getByRole('heading', signInHeading)).toBeVisible();
  const alert = alertWith(stranger, 'this sign-in link was already used or has expired');
  await expect(alert).toContainText(/Request ID [\da-f-]{36}/u);
  // The page asks for a sign-in before its first screen has been loaded.
  await expect(stranger).toHaveURL(`${server.origin}/#/overview`);
  await stranger.context().close();
});

test(
  'without a link, the page explains how to get one, and follows a sign-in in another tab',
  { tag: '@browser' },
  async ({ page, context, server }) => {
    await page.goto(server.origin);
    await expect(page.getByRole('heading', signInHeading)).toBeVisible();
    // The command is for this installation: typed as it stands, it prints a link.
    const command = page.getByText(`npm run -s cli -- open --data-dir ${server.dataDir}`);
    await expect(command).toBeVisible();
    await expectAccessible(page);
    await expect(page.getByRole('alert')).toHaveCount(0);

    const otherTab = await context.newPage();
    await otherTab.goto(await server.link());
    await expect(otherTab.getByRole('button', { name: 'Sign out' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
  },
);

test(
  'the command on the page prints a link, which can be pasted',
  { tag: '@browser' },
  async ({ page, server }) => {
    await page.goto(server.origin);
    const command = (await page.getByText(/open --data-dir/u).textContent()) ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    const field = page.getByLabel('Already have a link?');
    await field.fill('not a link');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(alertWith(page, 'This is not a sign-in link.')).toBeVisible();
    await field.fill(stdout.trim());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByRole('heading', { name: 'Initial setup' })).toBeVisible();
  },
);

test(
  'in the desktop app, a button requests a new link from the shell',
  { tag: '@browser' },
  async ({ page, server }) => {
    await addFakeShell(page);
    await page.goto(server.origin);
    await expect(page.getByText('npm run -s cli')).toHaveCount(0);
    await page.getByRole('button', { name: 'Sign in again' }).click();
    expect(await page.evaluate(() => window.fakeShell.signIns)).toBe(1);
  },
);
