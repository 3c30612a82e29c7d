// The built shell and its preload scripts around the real page in a real browser; only Electron itself is stood in for.
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page, test as base } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { DESKTOPS, openOnDesktop, openStandIn, type StandInApp } from './desktop-app.ts';

interface Fixtures {
  folder: string;
  /** Opens the app; ends it after the test. */
  open(options?: Parameters<typeof openStandIn>[0]): Promise<StandInApp>;
}

const test = base.extend<Fixtures>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixture's needs from its parameter
  folder: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'license-desk-documents-'));
    await use(folder);
    rmSync(folder, { recursive: true, force: true });
  },
  open: async ({ folder }, use) => {
    const apps: StandInApp[] = [];
    await use(async (options = {}) => {
      const app = await openStandIn({ ...options, env: { STAND_IN_DOCUMENTS: folder, ...options.env } });
      apps.push(app);
      return app;
    });
    for (const app of apps) await app.dispose();
  },
});

async function skipFirstSteps(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Skip setup' }).click();
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
}

test('the app opens its page signed in, locked to it, and comes back when the server dies', async ({
  open,
}) => {
  const { page, shell } = await open();
  await skipFirstSteps(page);
  expect(page.url()).not.toContain('code=');
  expect(await page.evaluate(() => Object.keys(window.licenseDesk ?? {}))).toContain('savePdf');
  expect(await page.evaluate(() => 'require' in globalThis || 'process' in globalThis)).toBe(false);

  const { origin } = new URL(page.url());
  await page.evaluate(() => location.assign('http://127.0.0.1:9/elsewhere'));
  await page.evaluate(() => void window.open('http://127.0.0.1:9/elsewhere'));
  await page.goto(`${origin}/#/api-access`);
  const [reference] = await Promise.all([
    shell.event('opened'),
    page.getByRole('link', { name: /reference/iu }).click(),
  ]);
  expect(reference.what).toMatch(/\/license\/api\/svc\/docs\/$/u);
  expect(shell.count('opened')).toBe(1);
  expect(new URL(page.url()).origin).toBe(origin);

  // A page that signed in slowly may already have been loaded twice.
  const loads = shell.count('load');
  process.kill((await shell.event('forked')).pid, 'SIGKILL');
  await shell.event('load', loads + 1);
  await expect.poll(() => new URL(page.url()).origin).not.toBe(origin);
  await expect(page.getByRole('heading', { name: 'API access' })).toBeVisible();
  expect(new URL(page.url()).hash).toBe('#/api-access');

  // A setting that takes effect at the next start. The app has a restart button.
  await page.goto(`${new URL(page.url()).origin}/#/settings`);
  const rateLimit = page.getByLabel('Rate limit: token checks');
  await rateLimit.fill('120');
  await rateLimit.press('Enter');
  await page.getByRole('status').getByRole('button', { name: 'Restart' }).click();
  const loadsBeforeRestart = shell.count('load');
  await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
  await shell.event('load', loadsBeforeRestart + 1);
  await expect(rateLimit).toHaveValue('120');
  await expect(page.getByText('Changed settings are not active yet.')).toHaveCount(0);
});

test('a request opened with the app reaches the air-gap desk, and the system’s dialogs save files', async ({
  open,
  folder,
}) => {
  const request = join(folder, 'press.req');
  writeFileSync(request, 'not a request at all');
  const { page, shell } = await open({ args: [request] });
  await expect(page.getByRole('heading', { name: 'Air-gap desk' })).toBeVisible();
  await expect(page.getByRole('textbox', { name: /request/iu })).toHaveValue('not a request at all');

  const license = { holder: 'Acme', product: 'press' };
  const response = await page.request.post(`${new URL(page.url()).origin}/admin/api/licenses/`, {
    data: license,
  });
  expect(response.ok(), await response.text()).toBe(true);
  const { license: issued } = (await response.json()) as { license: { license_id: number } };
  await page.goto(`${new URL(page.url()).origin}/#/licenses/print?license=${issued.license_id}`);
  await page.getByRole('button', { name: 'Save as PDF' }).click();
  const { defaultPath } = await shell.event('file-dialog');
  await shell.happen({ do: 'choose-path', path: defaultPath });
  await expect(page.getByText(/saved/iu)).toBeVisible();
  expect(readFileSync(defaultPath, 'latin1')).toMatch(/^%PDF-/u);

  await page.goto(`${new URL(page.url()).origin}/#/licenses`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Export as CSV' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Download CSV' }).click();
  const saved = await shell.event('download');
  expect(saved.state).toBe('completed');
  expect(saved.defaultPath.startsWith(folder)).toBe(true);
  expect(readFileSync(saved.defaultPath, 'utf8')).toContain('Acme');
});

test('a window explains why the server cannot start, and what to do', async ({ open }) => {
  const { page, shell } = await open({ args: ['--port=99999'] });
  await expect(page.getByRole('heading', { name: 'Invalid setting' })).toBeVisible();
  await expect(page.getByRole('alert')).toContainText('--port is "99999"');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Show Logs' }).click();
  expect((await shell.event('opened')).what).toBe(join(shell.dataDir, 'logs'));
  await page.getByRole('button', { name: 'Quit License Desk' }).click();
  expect(await shell.exited).toBe(0);
});

test('without a keychain, a passphrase is chosen, then asked for', async ({ open }) => {
  const { page, shell } = await open({ env: DESKTOPS['no-keyring'] });
  await expect(page.getByRole('heading', { name: 'Protect the master key' })).toBeVisible();
  await expectAccessible(page);
  await page.getByLabel('Passphrase', { exact: true }).fill('short');
  await page.getByLabel('Repeat passphrase').fill('short');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toHaveText('Use at least 12 characters.');
  await page.getByLabel('Passphrase', { exact: true }).fill('correct horse battery');
  await page.getByLabel('Repeat passphrase').fill('correct horse battery');
  await page.getByRole('button', { name: 'Protect', exact: true }).click();
  await shell.event('forked');
  expect(existsSync(join(shell.dataDir, 'master.key'))).toBe(false);
  expect(readFileSync(join(shell.dataDir, 'master-key.sealed'), 'utf8')).toContain('scrypt');
});

for (const desktop of ['wayland', 'win32', 'darwin'] as const) {
  test(`the app opens its page, closes and quits on ${desktop}`, async () => {
    const app = await openOnDesktop(desktop);
    try {
      await skipFirstSteps(app.page);
      await app.shell.event('shown');
      await app.shell.happen({ do: 'close-window' });
      await app.shell.event('hidden');
      await app.shell.happen({ do: 'click-tray', id: 'quit' }).catch(() => {});
      expect(await app.shell.exited).toBe(0);
    } finally {
      await app.dispose();
    }
  });
}

test('a port that is taken is replaced in the window', async ({ open }) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  try {
    const { page, context } = await open({ args: [`--admin-port=${port}`] });
    await expect(page.getByText(`Port ${port} is in use by`)).toContainText(String(process.pid));
    await expectAccessible(page);
    await page.getByLabel('Port').fill('0');
    await page.getByRole('button', { name: 'Use This Port' }).click();
    await expect(page.getByText('Enter a number from 1 to 65535.')).toBeVisible();
    await page.getByRole('button', { name: 'Use a Free Port' }).click();
    const shown = () => context.pages().find((one) => one.url().startsWith('http://127.0.0.1:'));
    await expect.poll(() => shown() !== undefined).toBe(true);
    await skipFirstSteps(shown() as Page);
  } finally {
    taken.close();
  }
});
