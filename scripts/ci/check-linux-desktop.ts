// `node scripts/ci/check-linux-desktop.ts window|passphrase|keychain`: checks the app on this Linux desktop in Electron
// itself. The stand-in imitates these desktops; this shows whether they behave the same.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { _electron, type ElectronApplication } from '@playwright/test';
import { SEALED_KEY_FILE } from '../../server/platform/master-key.ts';
import { requireElectron } from '../desktop-app.mjs';
import { root } from '../paths.mjs';

const VISIBLE_WITHIN_MS = 5000;
const WAIT_MS = 30_000;
/** The prefix of what Chromium encrypts: v10 means a publicly known key, v11 a key from the keyring. */
const OF_KEYRING = 'v11';

async function until<Value>(what: string, look: () => Promise<Value | undefined>, limit = WAIT_MS) {
  const end = Date.now() + limit;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`no ${what} within ${limit} ms`);
    await sleep(100);
  }
}

/** Measured from the first window, because starting the server takes time. */
async function expectVisibleWindow(app: ElectronApplication): Promise<string> {
  await app.firstWindow({ timeout: WAIT_MS });
  const isVisible = () =>
    app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().some((one) => one.isVisible()));
  await until('visible window', async () => ((await isVisible()) ? true : undefined), VISIBLE_WITHIN_MS);
  return 'the window is visible';
}

async function expectPassphraseQuestion(app: ElectronApplication): Promise<string> {
  const page = await app.firstWindow({ timeout: WAIT_MS });
  await page.getByLabel('Repeat passphrase').waitFor({ timeout: WAIT_MS });
  return 'the app asks for a passphrase';
}

async function expectSealedByKeychain(_app: ElectronApplication, dataDir: string): Promise<string> {
  const file = join(dataDir, SEALED_KEY_FILE);
  const { sealed_by, sealed } = await until('sealed master key', async () =>
    existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : undefined,
  );
  const mark = Buffer.from(sealed ?? '', 'base64')
    .subarray(0, 3)
    .toString('latin1');
  if (sealed_by !== 'keychain' || mark !== OF_KEYRING) {
    throw new Error(`the master key is sealed by ${sealed_by} with ${mark}, not by the keyring`);
  }
  return 'the keyring seals the master key';
}

const checks = {
  window: { check: expectVisibleWindow, needsKey: true },
  passphrase: { check: expectPassphraseQuestion, needsKey: false },
  keychain: { check: expectSealedByKeychain, needsKey: false },
};

async function run(name: keyof typeof checks): Promise<string> {
  const { check, needsKey } = checks[name];
  const dataDir = mkdtempSync(join(tmpdir(), 'license-desk-desktop-'));
  const key = { LICENSE_DESK_MASTER_KEY: randomBytes(32).toString('base64') };
  const app = await _electron.launch({
    executablePath: requireElectron(),
    cwd: root,
    args: ['.', `--data-dir=${dataDir}`, '--port=0', '--admin-port=0'],
    env: { ...process.env, ...(needsKey && key) } as Record<string, string>,
  });
  try {
    return await check(app, dataDir);
  } finally {
    await app.close();
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

const name = process.argv[2] ?? '';
if (!Object.hasOwn(checks, name)) {
  process.stderr.write(`usage: node scripts/ci/check-linux-desktop.ts ${Object.keys(checks).join('|')}\n`);
  process.exitCode = 2;
} else {
  process.stdout.write(`${await run(name as keyof typeof checks)}\n`);
}
