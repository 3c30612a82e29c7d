// The same page in the real shell, where Electron's binary can be had.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { _electron, expect, test } from '@playwright/test';

const project = resolve(import.meta.dirname, '../..');

/** Not `require('electron')`, which would download 100 MB in the middle of a test. */
function findElectron(): string | null {
  const folder = join(project, 'node_modules/electron');
  const pathFile = join(folder, 'path.txt');
  if (!existsSync(pathFile)) return null;
  const binary = join(folder, 'dist', readFileSync(pathFile, 'utf8').trim());
  return existsSync(binary) ? binary : null;
}

const binary = findElectron();
const hasDisplay =
  process.platform !== 'linux' || Boolean(process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY']);

test.skip(binary === null, 'Electron’s binary is not installed: `npx install-electron` downloads it');
test.skip(!hasDisplay, 'this session has no display');

test('the shell opens the page signed in, and its copy buttons work', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'license-desk-app-'));
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const app = await _electron.launch({
    executablePath: binary ?? '',
    cwd: project,
    args: [...sandbox, '.', '--data-dir', dataDir, '--port', '0', '--admin-port', '0'],
  });
  try {
    const page = await app.firstWindow();
    await page.getByRole('button', { name: 'Skip this' }).click();
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
    await expect(page.getByText('Electron')).toBeVisible();
    expect(page.url()).not.toContain('code=');
    expect(await page.evaluate(() => 'require' in globalThis || 'process' in globalThis)).toBe(false);
    await page.getByRole('button', { name: 'Copy: API address' }).click();
    await expect(page.getByRole('button', { name: 'Copy: API address' })).toHaveText('Copied');
    expect(await page.evaluate(() => window.open('https://example.com/'))).toBeNull();
  } finally {
    await app.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
