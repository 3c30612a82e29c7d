// Takes pictures with realistic data, light and dark: of the main screens in two sizes for docs/screenshots, or of every
// screen, dialog, menu and state in three for looking at (--all DIR, with --language de in German).
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { type APIRequestContext, chromium, type Page } from '@playwright/test';
import type { FailureView } from '../electron/shell-bridge.ts';
import { chromiumLaunch } from './chromium.mjs';
import { ensureCommands } from './debian-packages.mjs';
import { builtCli, nodePath, root } from './paths.mjs';
import { DEVICE, type Place, placesOf, type Shown } from './screenshot-places.ts';

const { values: options, positionals: only } = parseArgs({
  options: { all: { type: 'string' }, language: { type: 'string', default: 'en' } },
  allowPositionals: true,
});
const TARGET = options.all ? resolve(options.all) : join(root, 'docs', 'screenshots');
const SIZES = [
  { width: 1440, height: 900 },
  { width: 1100, height: 700 },
  ...(options.all ? [{ width: 390, height: 844 }] : []),
] as const;
const LICENSES = 1000;
/** No server listens on this port, so deliveries to it fail. */
const CLOSED = 'https://127.0.0.1:9/hooks';
/** Fonts for the scripts of all holders. */
const FONTS = {
  '/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc': ['fonts-noto-cjk'],
  '/usr/share/fonts/truetype/noto/NotoSansDevanagari-Regular.ttf': ['fonts-noto-core'],
};

/** Shown by the shell if its server cannot listen. */
const PORT_TAKEN = {
  kind: 'failure',
  title: 'The server cannot listen on its address',
  reason: '--port is "8787", but the server cannot listen on 127.0.0.1:8787: another program is using it',
  advice:
    'Quit that program and try again, or choose another port. Clients must then use the new API address.',
  log: '',
  logTitle: 'Log',
  actions: [
    { name: 'try_again', label: 'Try Again' },
    { name: 'free_port', label: 'Use a Free Port' },
    { name: 'show_data', label: 'Show Data Directory' },
    { name: 'show_logs', label: 'Show Logs' },
    { name: 'quit', label: 'Quit License Desk' },
  ],
  port: {
    label: 'Port',
    value: 8787,
    holder: 'Port 8787 is in use by nginx (PID 812).',
    note: '',
    problem: '',
    submit: 'Use This Port',
  },
} satisfies FailureView;

async function run(...args: string[]): Promise<void> {
  const child = spawn(nodePath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
}

async function serve(dataDir: string): Promise<{ child: ChildProcess; api: string; admin: string }> {
  const words = ['serve', '--data-dir', dataDir, '--port', '0', '--admin-port', '0'];
  const webhooks = ['--webhook-allow', '127.0.0.0/8', '--webhook-backoff-seconds', '0.05'];
  const child = spawn(nodePath, [builtCli, ...words, ...webhooks], { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  return { child, ...(JSON.parse(line) as { api: string; admin: string }) };
}

/** Adds what the seed does not: certificates, webhooks with failed deliveries, API tokens. */
async function furnish(request: APIRequestContext, api: string): Promise<Shown> {
  const post = async (path: string, data: object): Promise<Record<string, never>> => {
    const response = await request.post(`/admin/api${path}`, { data });
    if (!response.ok()) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Record<string, never>;
  };
  await post('/webhooks/register/', { url: CLOSED, scope: 'all', description: 'ERP of the reseller' });
  await post('/webhooks/register/', { url: 'https://127.0.0.1:9/crm', scope: 'license.revoked' });
  for (const name of ['ci-pipeline', 'shop-backend', 'support-scripts'])
    await post('/api-tokens/', { name, role: name === 'support-scripts' ? 'admin' : 'integrator' });
  const holders = [
    'Ústav soudního lékařství',
    'Fjord Instruments AS',
    '株式会社さくら',
    "O'Brien & Søns Ltd",
  ];
  const ids: number[] = [];
  const keys: string[] = [];
  for (const holder of holders) {
    const { license } = (await post('/licenses/', { holder, plan: 'professional' })) as unknown as {
      license: { license_id: number; license_key: string };
    };
    ids.push(license.license_id);
    keys.push(license.license_key);
    for (const [index, machine_name] of ['press-1', 'press-2', 'Empfang'].entries()) {
      const machine_fingerprint = `sha256:${String(index + 1).repeat(64)}`;
      const data = { license_key: license.license_key, machine_fingerprint, machine_name };
      await request.post(`${api}activate/`, { data });
    }
    await post('/certs/generate/', { license_id: license.license_id, common_name: `workstation ${holder}` });
    await post('/tokens/', { license: String(license.license_id), name: 'build server' });
  }
  const [first = 0, second = 0, third = 0, fourth = 0] = ids;
  const refused = { license_key: keys.at(-1), machine_fingerprint: DEVICE };
  for (const product_slug of [undefined, 'another-product'])
    await request.post(`${api}authorize/`, { data: { ...refused, product_slug } });
  await post('/licenses/revoke/', { ref: String(third), reason: 'contract ended' });
  await post('/certs/revoke/', { id: 2, reason: 'superseded' });
  await post('/licenses/bulk/renew/', { license_ids: [first, second] });
  const pool = await furnishPools(post, request, api);
  return { license: first, deniedLicense: fourth, pool, webhook: 1 };
}

/** Floating licenses with seats that are held, borrowed, reserved and refused. Returns the fullest. */
async function furnishPools(
  post: (path: string, data: object) => Promise<Record<string, never>>,
  request: APIRequestContext,
  api: string,
): Promise<number> {
  await post('/plans/', {
    name: 'viewer-pool',
    display_name: 'Viewer pool',
    licensing: 'floating',
    seats: 10,
    borrow_max_hours: 72,
    tier: 5,
  });
  const users = ['ada', 'grace', 'joan', 'linus', 'margaret', 'dennis', 'barbara', 'ken', 'radia', 'hedy'];
  const ids: number[] = [];
  for (const [index, holder] of ['Nordlicht Simulation GmbH', 'Kestrel Robotics', 'Acme Motors'].entries()) {
    const { license } = (await post('/licenses/', { holder, plan: 'viewer-pool' })) as unknown as {
      license: { license_id: number; license_key: string };
    };
    ids.push(license.license_id);
    if (index === 0) {
      const rule = { license: license.license_id };
      await post('/lease-groups/', { name: 'cad-team', members: ['ada', 'grace'] });
      await post('/lease-rules/', { ...rule, type: 'deny', match: { user: 'guest' } });
      await post('/lease-rules/', { ...rule, type: 'reserve', match: { group: 'cad-team' }, units: 2 });
      await post('/lease-rules/', { ...rule, type: 'max', match: { address: '10.20.0.0/16' }, units: 5 });
    }
    const clients = ['guest', ...users.slice(0, 10 - 3 * index)];
    for (const [place, user] of clients.entries()) {
      const taken = await request.post(`${api}leases/checkout/`, {
        data: {
          license_key: license.license_key,
          instance_id: `${user}-${license.license_id}`.padEnd(16, '0'),
          user,
          host: `workstation-${place + 1}`,
        },
      });
      const { lease_token } = (await taken.json()) as { lease_token?: string };
      const data = { lease_token, hours: 24, machine_fingerprint: DEVICE };
      if (lease_token && place < 3) await request.post(`${api}leases/borrow/`, { data });
    }
  }
  return ids[0] ?? 0;
}

/** The colors change step by step. */
async function endTransitions(): Promise<void> {
  for (let frames = 0; frames < 2; frames += 1)
    await new Promise((drawn) => {
      requestAnimationFrame(drawn);
    });
  for (const animation of document.getAnimations())
    if (animation instanceof CSSTransition) animation.finish();
}

async function picture(page: Page, origin: string, place: Place): Promise<void> {
  const { name, address, before, prepare } = place;
  await page.setViewportSize(SIZES[0]);
  await page.goto('about:blank');
  await before?.(page);
  await page.goto(`${origin}/#/${address}`);
  await page.locator('h1').first().waitFor();
  if (!before) await page.getByText('Loading').first().waitFor({ state: 'hidden' });
  await prepare?.(page);
  // Waits for chart animations and lists.
  await page.waitForTimeout(700);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(endTransitions);
      await page.screenshot({ path: join(TARGET, `${name}-${colorScheme}-${size.width}.png`) });
    }
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' });
}

/** The shell's own window, which is shown without a server. */
async function shellPictures(page: Page): Promise<void> {
  const folder = join(root, 'out', 'preload');
  await page.route('http://shell.test/*', (route, request) =>
    route.fulfill({
      path: join(folder, new URL(request.url()).pathname),
      ...(request.url().endsWith('.cjs') ? { contentType: 'text/javascript' } : {}),
    }),
  );
  await page.addInitScript((view) => {
    const shell = { shellView: async () => view, shellAnswer: async () => {}, onChange: () => {} };
    Object.assign(globalThis, { shell });
  }, PORT_TAKEN);
  await page.setViewportSize({ width: 720, height: 560 });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto('http://shell.test/shell-page.html');
    await page.getByRole('heading').waitFor();
    await page.screenshot({ path: join(TARGET, `shell-failure-${colorScheme}.png`) });
  }
}

const missing = await ensureCommands({ chromium: ['chromium', 'fonts-liberation'], ...FONTS });
if (missing.includes('chromium'))
  throw new Error('screenshots need Chromium; install the Debian package chromium');
const dataDir = mkdtempSync(join(tmpdir(), 'license-desk-screenshots-'));
mkdirSync(TARGET, { recursive: true });
await run(join(root, 'scripts', 'seed.ts'), '--data-dir', dataDir, '--licenses', String(LICENSES));
const { child, api, admin } = await serve(dataDir);
const browser = await chromium.launch(chromiumLaunch);
try {
  const { origin } = new URL(admin);
  const page = await browser.newPage({ viewport: SIZES[0], locale: 'en-GB', baseURL: origin });
  await page.goto(admin);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const shown = await furnish(page.request, api);
  await page.evaluate((code) => localStorage.setItem('license-desk-language', code), options.language);
  const isWanted = ({ name, isKept = false }: Place) =>
    only.length > 0 ? only.includes(name) : isKept || options.all !== undefined;
  for (const place of placesOf(shown).filter(isWanted))
    await picture(page, origin, place).catch((error: unknown) => console.error(place.name, error));
  if (only.length === 0 || only.includes('shell')) await shellPictures(page);
} finally {
  await browser.close();
  child.kill('SIGTERM');
  await once(child, 'exit');
  rmSync(dataDir, { recursive: true, force: true });
}
