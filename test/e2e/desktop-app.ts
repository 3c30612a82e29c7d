// The desktop app with a page in it: in Electron, or built as it is over the stand-in and in Chromium.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { _electron, type BrowserContext, chromium, expect, type Page } from '@playwright/test';
import { chromiumLaunch } from '../../scripts/chromium.mjs';
import { findElectron, hasDisplay } from '../../scripts/desktop-app.mjs';
import { type Shell, startShell } from '../electron/shell.ts';
import { freePort } from './free-port.ts';

const project = resolve(import.meta.dirname, '../..');

export interface DesktopApp {
  dataDir: string;
  context: BrowserContext;
  /** The app's window. */
  page: Page;
  dispose(): Promise<void>;
}

/** @returns null where Electron can be started */
export function electronObstacle(): string | null {
  // Not `require('electron')`, which would download 100 MB in the middle of a test.
  if (!findElectron()) return 'Electron’s binary is not installed: `npx install-electron` downloads it';
  return hasDisplay() ? null : 'this session has no display';
}

/** @param flags for the server */
export async function openElectron(flags: readonly string[]): Promise<DesktopApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'license-desk-app-'));
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const app = await _electron.launch({
    executablePath: findElectron() ?? '',
    cwd: project,
    args: [...sandbox, '.', '--data-dir', dataDir, '--port', '0', '--admin-port', '0', ...flags],
  });
  return {
    dataDir,
    context: app.context(),
    page: await app.firstWindow(),
    async dispose() {
      await app.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export interface StandInApp extends DesktopApp {
  shell: Shell;
}

/**
 * The built main process over the stand-in, its windows in a Chromium of their own.
 * @param options as for `startShell`
 */
export async function openStandIn(options: Parameters<typeof startShell>[0] = {}): Promise<StandInApp> {
  const port = await freePort();
  const browser = await chromium.launch({
    ...chromiumLaunch,
    args: [...chromiumLaunch.args, `--remote-debugging-port=${port}`],
  });
  const endpoint = `http://127.0.0.1:${port}`;
  const shell = startShell({ ...options, env: { ...options.env, STAND_IN_BROWSER: endpoint } });
  async function dispose(): Promise<void> {
    await shell.dispose();
    await browser.close();
  }
  try {
    // Seen from here as well: the window's page is in the browser's own context.
    const [context] = (await chromium.connectOverCDP(endpoint)).contexts();
    if (!context) throw new Error('the browser has no context');
    await shell.event('load');
    const isShown = (page: Page) => page.url().startsWith('http:');
    await expect.poll(() => context.pages().some((page) => isShown(page))).toBe(true);
    const page = context.pages().find((one) => isShown(one)) as Page;
    return { dataDir: shell.dataDir, context, page, shell, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
