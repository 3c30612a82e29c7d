// The screens, dialogs, menus and states that `npm run screenshots` takes pictures of.
import type { Page } from '@playwright/test';
import { SETTINGS_TABS } from '../renderer/src/features/settings/settings-tabs.ts';

export interface Place {
  name: string;
  address: string;
  /** Is in docs/screenshots. The others are for looking at. */
  isKept?: boolean;
  /** Runs before the page is loaded, where the server has to answer otherwise. */
  before?: (page: Page) => Promise<unknown>;
  /** Runs before the picture is taken. */
  prepare?: (page: Page) => Promise<unknown>;
}

/** The records that the pictures show. */
export interface Shown {
  license: number;
  deniedLicense: number;
  pool: number;
  webhook: number;
}

export const DEVICE = `sha256:${'a1'.repeat(32)}`;

const IMPORT = [
  'Kunde;E-Mail;Tarif',
  'Ústav soudního lékařství;it@usl.example;standard',
  ';a@b.example;gold',
];

const button = (name: RegExp | string) => (page: Page) => page.getByRole('button', { name }).first().click();
const menu = (name: RegExp) => async (page: Page) => {
  await page.getByRole('complementary').locator('button[aria-haspopup="menu"]').click();
  await page.getByRole('menuitem', { name }).click();
};
/** One after the other. */
const all =
  (...steps: ((page: Page) => Promise<unknown>)[]) =>
  async (page: Page) => {
    for (const step of steps) await step(page);
  };
const keys = (keyPress: string, text: string) => async (page: Page) => {
  await page.keyboard.press(keyPress);
  await page.keyboard.type(text);
  await page.waitForTimeout(600);
};
const answer =
  (path: string, reply: object, status = 200) =>
  (page: Page) =>
    page.route(`**/admin/api/${path}*`, (route) => route.fulfill({ status, json: reply }));
const NOTHING = { ok: true, items: [], webhooks: [], next_cursor: null, request_id: 'x' };
const FAILED = {
  ok: false,
  error_code: 'unavailable',
  message: 'the database did not answer within 5 seconds',
  request_id: '0193509a-4f2e-7c1d-9a53-6f7b2c4d8e10',
};

async function askWhyDenied(page: Page): Promise<void> {
  const inspector = page.getByRole('complementary');
  await inspector.locator('form input').first().fill(DEVICE);
  await inspector.locator('button[type="submit"]').click();
  await inspector.getByRole('listitem').first().waitFor();
}

async function importWithErrors(page: Page): Promise<void> {
  await page.locator('.screen-head button[aria-haspopup="menu"]').click();
  await page.getByRole('menuitem').first().click();
  const buffer = Buffer.from(IMPORT.join('\r\n'));
  await page
    .locator('dialog input[type=file]')
    .setInputFiles({ name: 'kunden.csv', mimeType: 'text/csv', buffer });
  await page.locator('dialog').getByRole('combobox').first().waitFor();
  await page.locator('dialog .primary').click();
  await page.locator('dialog').getByRole('row').nth(1).waitFor();
}

async function selectRows(page: Page): Promise<void> {
  const boxes = page.getByRole('grid').getByRole('checkbox');
  await boxes.nth(1).click();
  await boxes.nth(5).click({ modifiers: ['Shift'] });
}

const kept = (name: string, address = name): Place => ({ name, address, isKept: true });

export function placesOf({ license, deniedLicense, pool, webhook }: Shown): Place[] {
  const record = `licenses?open=${license}`;
  return [
    kept('overview'),
    kept('licenses'),
    kept('license', record),
    kept('floating'),
    { name: 'floating-pool', address: `floating?open=${pool}` },
    { name: 'floating-leases', address: 'floating?view=leases' },
    { name: 'floating-lease', address: 'floating?view=leases&open=1' },
    { name: 'floating-denials', address: 'floating?view=denials&open=1' },
    { name: 'floating-usage', address: `floating?view=usage&license=${pool}` },
    { name: 'floating-rules', address: `floating?view=rules&license=${pool}&user=ada` },
    { name: 'license-seats', address: `licenses?open=${pool}&tab=seats` },
    kept('license-print', `licenses/print?license=${license}`),
    kept('license-search', 'licenses?search=fjord'),
    { ...kept('why-denied', `${record}&tab=explain`), prepare: askWhyDenied },
    ...['devices', 'tokens', 'certificates', 'deliveries', 'timeline', 'file'].map((tab) => ({
      name: `license-${tab}`,
      address: `${record}&tab=${tab}`,
    })),
    { name: 'license-denied', address: `licenses?open=${deniedLicense}&tab=explain` },
    { name: 'license-edit', address: record, prepare: menu(/Edit|Bearbeiten/u) },
    { name: 'license-upgrade', address: record, prepare: menu(/Upgrade|Hochstufen/u) },
    { name: 'license-revoke', address: record, prepare: menu(/Revoke|Widerrufen/u) },
    {
      name: 'license-menu',
      address: record,
      prepare: (page) => page.getByRole('complementary').locator('button[aria-haspopup="menu"]').click(),
    },
    {
      name: 'license-renew',
      address: record,
      prepare: (page) => page.getByRole('complementary').locator('.buttons .primary').click(),
    },
    { name: 'hand-over', address: record, prepare: button(/^(?:Hand over|Übergeben|Aushändigen)/u) },
    { name: 'license-new', address: 'licenses?new=1' },
    {
      name: 'toast',
      address: `licenses?open=${deniedLicense}`,
      prepare: all(
        (page) => page.getByRole('complementary').locator('.buttons .primary').click(),
        (page) => page.locator('dialog .primary').click(),
      ),
    },
    { name: 'selection', address: 'licenses', prepare: selectRows },
    { name: 'bulk-renew', address: 'licenses', prepare: all(selectRows, button(/^(?:Renew|Verlängern)/u)) },
    { name: 'import-errors', address: 'licenses', prepare: importWithErrors },
    { name: 'no-match', address: 'licenses?search=no%20such%20holder' },
    { name: 'palette', address: record, prepare: keys('Control+k', '') },
    { name: 'palette-search', address: 'overview', prepare: keys('Control+k', 're') },
    { name: 'shortcuts', address: 'overview', prepare: keys('?', '') },
    ...['air-gap', 'authorization-tokens', 'certificates', 'plans', 'webhooks', 'failed-events'].map((name) =>
      kept(name),
    ),
    { name: 'plan-new', address: 'plans', prepare: (page) => page.locator('.screen-head .primary').click() },
    kept('certificate-authority', 'certificates?view=authority'),
    { name: 'certificate', address: 'certificates?open=1' },
    { name: 'certificate-crl', address: 'certificates?view=crl' },
    {
      name: 'certificate-new',
      address: 'certificates',
      prepare: (page) => page.locator('.screen-head .primary').click(),
    },
    kept('webhook', `webhooks/${webhook}`),
    {
      name: 'webhook-delivery',
      address: `webhooks/${webhook}`,
      prepare: (page) => page.getByRole('grid').getByRole('row').nth(1).click(),
    },
    { name: 'webhook-inspector', address: `webhooks?open=${webhook}` },
    { name: 'webhook-edit', address: `webhooks?open=${webhook}`, prepare: menu(/Edit|Bearbeiten/u) },
    {
      name: 'webhook-new',
      address: 'webhooks',
      prepare: (page) => page.locator('.screen-head .primary').click(),
    },
    kept('event-catalogue', 'webhooks?view=catalogue'),
    {
      name: 'failed-event',
      address: 'failed-events',
      prepare: (page) => page.getByRole('grid').getByRole('row').nth(1).click(),
    },
    ...['statistics', 'api-access', 'settings', 'audit', 'first-run'].map((name) => kept(name)),
    {
      name: 'statistics-quarter',
      address: 'statistics',
      prepare: button(/^(?:Last quarter|Letztes Quartal|Voriges Quartal)/u),
    },
    {
      name: 'audit-entry',
      address: 'audit',
      prepare: (page) => page.getByRole('grid').getByRole('row').nth(1).click(),
    },
    { name: 'api-samples', address: 'api-access?view=samples' },
    {
      name: 'secret',
      address: 'api-access',
      prepare: all(
        (page) => page.locator('.screen-head .primary').click(),
        (page) => page.locator('dialog input').first().fill('ci-pipeline'),
        (page) => page.locator('dialog .primary').click(),
        async (page) => page.locator('dialog code').first().waitFor(),
        (page) => page.keyboard.press('Escape'),
      ),
    },
    // The first is `settings`, and only the desktop app has the tab `app`.
    ...SETTINGS_TABS.slice(1)
      .filter((tab) => tab !== 'app')
      .map((tab) => ({ name: `settings-${tab}`, address: `settings?tab=${tab}` })),
    {
      name: 'settings-exposed',
      address: 'settings',
      prepare: (page) => page.getByRole('radio', { name: /^(?:Network|Netzwerk)/u }).check(),
    },
    { name: 'empty-licenses', address: 'licenses', before: answer('licenses/', NOTHING) },
    { name: 'empty-webhooks', address: 'webhooks', before: answer('webhooks/', NOTHING) },
    { name: 'empty-failed-events', address: 'failed-events?since=2990-01-01' },
    { name: 'error', address: 'licenses', before: answer('licenses/', FAILED, 503) },
    {
      name: 'loading',
      address: 'licenses',
      before: (page) => page.route('**/admin/api/licenses/?*', () => {}),
    },
    {
      name: 'offline',
      address: 'overview',
      prepare: all(
        (page) => page.route('**/admin/api/**', (route) => route.abort()),
        (page) => page.getByRole('alert').first().waitFor(),
      ),
    },
    {
      name: 'sign-in',
      address: 'overview',
      // Only the screen without a session may ask.
      before: (page) =>
        page.route(/\/admin\/api\/(?!session\/help)/u, (route) =>
          route.fulfill({ status: 401, json: { ...FAILED, error_code: 'unauthorized' } }),
        ),
    },
    { name: 'not-found', address: 'no-such-screen' },
  ];
}
