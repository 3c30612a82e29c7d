// Screens load their code on first use. What cannot be loaded leaves address, title, navigation and content in agreement.
import type { Page, Route } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { gate } from './gate.ts';
import { expect, test } from './test.ts';

const codeOf = (screen: string) => `**/assets/${screen}-*.js`;
const notFound = (route: Route) => route.fulfill({ status: 404 });
const NOT_LOADED =
  'This part of the page could not be loaded. Reload the page if License Desk has been updated.';

const results = (page: Page) => page.getByRole('log', { name: 'Results' });
const link = (page: Page, screen: string) => page.getByRole('link', { name: screen, exact: true });

/** As typed into the address bar. */
async function enter(page: Page, hash: string): Promise<void> {
  await page.evaluate((typed) => {
    location.hash = typed;
  }, hash);
}

/** A new page, whose first screen it is. */
async function openFirst(page: Page, address: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(address);
}

/** Holds the code of a screen, then refuses it. */
async function holdCode(page: Page, screen: string) {
  const [asked, released] = [gate(), gate()];
  await page.route(codeOf(screen), async (route) => {
    asked.open();
    await released.isOpen;
    await route.abort();
  });
  return { asked: asked.isOpen, refuse: released.open };
}

async function expectScreen(page: Page, screen: string, hash: string): Promise<void> {
  await expect(page).toHaveURL(new RegExp(`/#${hash}$`, 'u'));
  await expect(page.getByRole('heading', { name: screen, level: 1 })).toBeVisible();
  await expect(page).toHaveTitle(`${screen} · License Desk`);
  await expect(page.getByRole('navigation').locator('[aria-current="page"]')).toHaveText([screen]);
}

test('a screen whose files an update has replaced says so', { tag: '@browser' }, async ({ desk }) => {
  await desk.route(codeOf('CertificatesPage'), notFound);
  await desk.goto('/#/licenses');
  await expectScreen(desk, 'Licenses', '/licenses');
  await link(desk, 'Certificates').click();
  await expect(results(desk)).toContainText(NOT_LOADED);
  await expectScreen(desk, 'Licenses', '/licenses');

  await desk.unroute(codeOf('CertificatesPage'));
  await desk.reload();
  await link(desk, 'Certificates').click();
  await expectScreen(desk, 'Certificates', '/certificates');
});

test('the first screen says so itself, and can be tried again', { tag: '@browser' }, async ({ desk }) => {
  await desk.route(codeOf('CertificatesPage'), notFound);
  await openFirst(desk, '/#/certificates');
  await expect(desk.getByText(NOT_LOADED)).toBeVisible();
  await expectScreen(desk, 'Certificates', '/certificates');
  await expectAccessible(desk);
  await desk.unroute(codeOf('CertificatesPage'));
  await desk.getByRole('button', { name: 'Try again' }).click();
  await expect(desk.getByRole('button', { name: 'Issue certificate' })).toBeVisible();
  await expectScreen(desk, 'Certificates', '/certificates');
});

test('the first screen can be opened once its code is there', { tag: '@browser' }, async ({ desk }) => {
  await desk.route(codeOf('CertificatesPage'), notFound);
  await openFirst(desk, '/#/certificates');
  await expect(desk.getByText(NOT_LOADED)).toBeVisible();
  await link(desk, 'Plans').click();
  await expectScreen(desk, 'Plans', '/plans');
  await desk.goBack();
  await expect(results(desk)).toContainText(NOT_LOADED);
  await expectScreen(desk, 'Plans', '/plans');
  await desk.unroute(codeOf('CertificatesPage'));
  await link(desk, 'Certificates').click();
  await expect(desk.getByRole('button', { name: 'Issue certificate' })).toBeVisible();
  await expectScreen(desk, 'Certificates', '/certificates');
});

test('an entered address whose screen cannot be loaded is left', { tag: '@browser' }, async ({ desk }) => {
  await desk.route(codeOf('CertificatesPage'), notFound);
  await desk.goto('/#/licenses?search=acme');
  await expectScreen(desk, 'Licenses', String.raw`/licenses\?search=acme`);
  await enter(desk, '/certificates');
  await expect(results(desk)).toContainText(NOT_LOADED);
  await expectScreen(desk, 'Licenses', String.raw`/licenses\?search=acme`);
});

test(
  'a screen that was left before its code failed to load changes nothing',
  { tag: '@browser' },
  async ({ desk }) => {
    await desk.goto('/#/licenses');
    await expectScreen(desk, 'Licenses', '/licenses');
    const certificates = await holdCode(desk, 'CertificatesPage');
    await enter(desk, '/certificates');
    await certificates.asked;
    await link(desk, 'Plans').click();
    await expectScreen(desk, 'Plans', '/plans');
    const failed = desk.waitForEvent('requestfailed');
    certificates.refuse();
    await failed;
    await link(desk, 'Audit').click();
    await expectScreen(desk, 'Audit', '/audit');
    await expect(results(desk)).toBeEmpty();
    await desk.goBack();
    await expectScreen(desk, 'Plans', '/plans');
  },
);

test(
  'if the next screen fails to load as well, the current one keeps its address',
  { tag: '@browser' },
  async ({ desk }) => {
    await desk.route(codeOf('PlansPage'), notFound);
    await desk.goto('/#/licenses');
    await expectScreen(desk, 'Licenses', '/licenses');
    const certificates = await holdCode(desk, 'CertificatesPage');
    await enter(desk, '/certificates');
    await certificates.asked;
    await link(desk, 'Plans').click();
    await expect(results(desk)).toContainText(NOT_LOADED);
    await expectScreen(desk, 'Licenses', '/licenses');
    const failed = desk.waitForEvent('requestfailed');
    certificates.refuse();
    await failed;
    await link(desk, 'Audit').click();
    await expectScreen(desk, 'Audit', '/audit');
    await desk.goBack();
    await expectScreen(desk, 'Licenses', '/licenses');
  },
);

test(
  'a screen that fails for another reason is not called missing',
  { tag: '@browser' },
  async ({ desk }) => {
    await desk.route(codeOf('CertificatesPage'), (route) =>
      route.fulfill({
        contentType: 'text/javascript',
        body: `export default { beforeRouteEnter() { throw new Error('a bug'); }, render: () => null };`,
      }),
    );
    await desk.goto('/#/licenses');
    await expectScreen(desk, 'Licenses', '/licenses');
    const told = desk.waitForEvent('console', (message) => message.text().includes('a bug'));
    await link(desk, 'Certificates').click();
    await told;
    await expectScreen(desk, 'Licenses', '/licenses');
    await expect(results(desk)).toBeEmpty();
  },
);

test('what a screen throws while it is loaded is reported', { tag: '@browser' }, async ({ desk }) => {
  await desk.route(codeOf('CertificatesPage'), (route) =>
    route.fulfill({ contentType: 'text/javascript', body: `throw new Error('a bug');` }),
  );
  await desk.goto('/#/licenses');
  await expectScreen(desk, 'Licenses', '/licenses');
  const reported = desk.waitForEvent('pageerror', (error) => error.message === 'a bug');
  await link(desk, 'Certificates').click();
  await reported;
  await expectScreen(desk, 'Licenses', '/licenses');
});
