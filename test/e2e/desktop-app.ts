// The desktop app with a page in it: in Electron, or built as it is over the stand-in and in Chromium.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { _electron, type BrowserContext, chromium, expect, type Page } from '@playwright/test';
import { chromiumLaunch } from '../../scripts/chromium.mjs';
import { findElectron, hasDisplay } from '../../scripts/desktop-app.mjs';
import { type Shell, startShell } from '../electron/shell.ts';
import { freePort } from '../helpers/free-ports.ts';

const project = resolve(import.meta.dirname, '../..');

export interface DesktopApp {
  dataDir: string;
  context: BrowserContext;
  /** The app's window. */
  page: Page;
  dispose(): Promise<void>;
}

function findObstacle(): string | null {
  // Not `require('electron')`, which would download 100 MB in the middle of a test.
  if (!findElectron()) return 'Electron’s binary is not installed: `npx install-electron` downloads it';
  return hasDisplay() ? null : 'this session has no display';
}

/**
 * @returns null where Electron can be started
 * @throws Error with the obstacle, where LICENSE_DESK_REQUIRE_ELECTRON=1 says that Electron must be there
 */
export function electronObstacle(): string | null {
  const obstacle = findObstacle();
  if (obstacle !== null && process.env['LICENSE_DESK_REQUIRE_ELECTRON'] === '1') {
    throw new Error(`LICENSE_DESK_REQUIRE_ELECTRON is set, but ${obstacle}`);
  }
  return obstacle;
}

/** The page of the server, not the shell's own: either may be the first window. */
const isPageOfServer = (page: Page) => page.url().startsWith('http://127.0.0.1:');

/** Chromium's sandbox works neither for root nor, without its SUID helper, where user namespaces are restricted. */
function needsNoSandbox(): boolean {
  const restriction = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';
  return (
    process.getuid?.() === 0 || (existsSync(restriction) && readFileSync(restriction, 'utf8').trim() === '1')
  );
}

/** @param flags for the server */
export async function openElectron(flags: readonly string[]): Promise<DesktopApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'license-desk-app-'));
  const app = await _electron.launch({
    executablePath: findElectron() ?? '',
    cwd: project,
    args: [
      ...(needsNoSandbox() ? ['--no-sandbox'] : []),
      '.',
      `--data-dir=${dataDir}`,
      '--port=0',
      '--admin-port=0',
      ...flags,
    ],
    // A keychain would ask its user, who is not here.
    env: { ...process.env, LICENSE_DESK_MASTER_KEY: randomBytes(32).toString('base64') } as Record<
      string,
      string
    >,
  });
  await expect.poll(() => app.windows().some(isPageOfServer)).toBe(true);
  return {
    dataDir,
    context: app.context(),
    page: app.windows().find(isPageOfServer) as Page,
    async dispose() {
      await app.close();
      // Windows lets go of files some time after their process ended.
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

export interface StandInApp extends DesktopApp {
  shell: Shell;
}

/** Desktops that the page's specs can run on, over the stand-in. */
export const DESKTOPS = {
  wayland: { STAND_IN_WAYLAND: '1' },
  'no-keyring': { STAND_IN_KEYCHAIN: 'no-keyring' },
  win32: { STAND_IN_PLATFORM: 'win32' },
  darwin: { STAND_IN_PLATFORM: 'darwin' },
} satisfies Record<string, Record<string, string>>;

const PASSPHRASE = 'correct horse battery';

/** @param desktop where there is no keyring, a passphrase is chosen first */
export async function openOnDesktop(
  desktop: keyof typeof DESKTOPS | null,
  flags: readonly string[] = [],
): Promise<StandInApp> {
  const env = desktop === null ? {} : DESKTOPS[desktop];
  const app = await openStandIn({ args: [...flags], env });
  try {
    if (desktop === 'no-keyring') {
      await app.page.getByLabel('Passphrase', { exact: true }).fill(PASSPHRASE);
      await app.page.getByLabel('Repeat passphrase').fill(PASSPHRASE);
      await app.page.keyboard.press('Enter');
    }
    const pageOfServer = () => app.context.pages().find(isPageOfServer);
    await expect.poll(() => pageOfServer() !== undefined).toBe(true);
    return { ...app, page: pageOfServer() as Page };
  } catch (error) {
    await app.dispose();
    throw error;
  }
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
