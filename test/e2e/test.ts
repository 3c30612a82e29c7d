// Playwright's `test` with a new server for each test, and a guard over everything the page does.
import { test as base, expect, type BrowserContext, type Locator, type Page } from '@playwright/test';
import {
  type DesktopApp,
  type DESKTOPS,
  electronObstacle,
  openElectron,
  openOnDesktop,
} from './desktop-app.ts';
import { withPromptRoutes } from './prompt-routes.ts';
import { serverOfApp, startServer, type TestServer } from './server.ts';

export interface PlaceOptions {
  /**
   * Where the page is shown: in the browser, in Electron, or in the browser with the built shell over its stand-in
   * around it, for work on the shell.
   */
  place: 'browser' | 'electron' | 'stand-in';
  /** The desktop that the stand-in imitates; null: Linux with X11 and a keyring. */
  desktop: keyof typeof DESKTOPS | null;
}

interface Guard {
  /** What the content security policy refused. */
  violations: string[];
  /** Requests that went to anybody but the server. */
  strayRequests: string[];
  /** Keys that the page showed because it has no text for them. */
  missingTexts: string[];
}

interface Fixtures extends PlaceOptions {
  /** Skips what cannot be run in this place. */
  possible: void;
  /** Null in the browser alone. */
  app: DesktopApp | null;
  /** Flags that the server is started with. */
  serverFlags: string[];
  server: TestServer;
  guard: Guard;
  /** The page, signed in, past the first steps. */
  desk: Page;
}

async function watchViolations(context: BrowserContext, violations: string[]): Promise<void> {
  await context.exposeFunction('reportViolation', (violation: string) => violations.push(violation));
  await context.addInitScript(() => {
    const { reportViolation } = globalThis as unknown as { reportViolation(violation: string): void };
    document.addEventListener('securitypolicyviolation', (event) => {
      reportViolation(
        `${event.violatedDirective}: ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`,
      );
    });
  });
}

/** The app's window knows of no address that others are relative to, as Playwright's own pages do. */
function rooted(page: Page, origin: string): Page {
  const onOrigin =
    <Rest extends unknown[], Result>(call: (url: string, ...rest: Rest) => Result) =>
    (url: string, ...rest: Rest) =>
      call(new URL(url, origin).href, ...rest);
  const { request } = page;
  page.goto = onOrigin(page.goto.bind(page));
  Object.assign(request, {
    get: onOrigin(request.get.bind(request)),
    post: onOrigin(request.post.bind(request)),
  });
  return page;
}

/** The first steps, which would open by themselves, are for first-run.spec.ts. */
async function signInAndSkipFirstSteps({ request }: Page, { firstLink }: TestServer): Promise<void> {
  const code = new URL(firstLink).searchParams.get('code');
  for (const [path, data] of [
    ['session', { code }],
    ['first-run/finish', { skipped: true }],
  ] as const) {
    const response = await request.post(`/admin/api/${path}/`, { data });
    expect(response.ok(), await response.text()).toBe(true);
  }
}

export const test = base.extend<Fixtures>({
  place: ['browser', { option: true }],
  desktop: [null, { option: true }],
  possible: [
    async ({ place }, use, { skip }) => {
      const obstacle = place === 'electron' ? electronObstacle() : null;
      skip(obstacle !== null, obstacle ?? '');
      await use();
    },
    { auto: true },
  ],
  app: async ({ place, desktop, serverFlags, possible: _possible }, use) => {
    if (place === 'browser') return use(null);
    const app = await (place === 'electron'
      ? openElectron(serverFlags)
      : openOnDesktop(desktop, serverFlags));
    await use(app);
    await app.dispose();
  },
  serverFlags: [[], { option: true }],
  server: async ({ serverFlags, app }, use) => {
    const server = app ? await serverOfApp(app.dataDir) : await startServer(serverFlags);
    await use(server);
    await server.dispose();
  },
  context: async ({ context: shared, app }, use) => {
    if (app) return use(app.context);
    await use(shared);
    await shared.clearPermissions();
  },
  page: ({ page, app, server }, use) => use(withPromptRoutes(app ? rooted(app.page, server.origin) : page)),
  baseURL: ({ server }, use) => use(server.origin),
  guard: [
    async ({ context, server }, use) => {
      const guard: Guard = { violations: [], strayRequests: [], missingTexts: [] };
      await watchViolations(context, guard.violations);
      context.on('request', (request) => {
        if (new URL(request.url()).origin !== server.origin) guard.strayRequests.push(request.url());
      });
      context.on('weberror', (error) => {
        const [, key] = /^no text: (.*)/u.exec(error.error().message) ?? [];
        if (key) guard.missingTexts.push(key);
      });
      await use(guard);
      expect(guard.violations, 'refused by the content security policy').toEqual([]);
      expect(guard.strayRequests, 'requests to anybody but the server').toEqual([]);
      expect(guard.missingTexts, 'keys without a text').toEqual([]);
    },
    { auto: true },
  ],
  desk: async ({ page, server, guard: _guard }, use) => {
    await signInAndSkipFirstSteps(page, server);
    await page.goto('/');
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
    await use(page);
    // Route handlers that are still running fail when the page closes, which matters to no test.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  },
});

export { expect } from '@playwright/test';

/** On a busy machine, the page may show another one meanwhile: that the server is slow to answer. */
export const alertWith = (page: Page, hasText: string | RegExp): Locator =>
  page.getByRole('alert').filter({ hasText });

/** Stays on the page whenever the browser asks. @returns the types of its questions so far */
export function stayWhenAsked(page: Page): string[] {
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.dismiss();
  });
  return asked;
}

interface NewLicense {
  holder: string;
  order_number?: string;
  email?: string;
  plan?: string;
  product?: string;
  days?: number;
  expires_at?: string;
  notes?: string;
  custom_fields?: Record<string, string>;
}

/** Issues a license in the session that the page is signed in with; gives back its key. */
export async function issueLicense(page: Page, license: NewLicense): Promise<string> {
  const response = await page.request.post('/admin/api/licenses/', { data: license });
  expect(response.ok(), await response.text()).toBe(true);
  const reply = (await response.json()) as { license: { license_key: string } };
  return reply.license.license_key;
}

/** Imports licenses for these holders, in this order, in the session that the page is signed in with. */
export async function importLicenses(page: Page, holders: readonly string[]): Promise<void> {
  const upload = await page.request.post('/admin/api/licenses/import/', {
    headers: { 'content-type': 'text/csv' },
    data: ['holder', ...holders].join('\n'),
  });
  const { import_id } = (await upload.json()) as { import_id: string };
  const run = await page.request.post('/admin/api/licenses/import/run/', {
    data: { import_id, mapping: { holder: 'holder' } },
  });
  expect(await run.json()).toMatchObject({ state: 'done', done: holders.length });
}

/** Does something after which an element shows this text, which may be gone again before the test looks. */
export async function expectBriefly(element: Locator, text: string, act: () => Promise<void>): Promise<void> {
  const shown = await element.evaluateHandle((node) => {
    const texts: (string | null)[] = [];
    const observer = new MutationObserver(() => texts.push(node.textContent));
    observer.observe(node, { characterData: true, childList: true, subtree: true });
    return texts;
  });
  await act();
  await expect.poll(() => shown.jsonValue()).toContain(text);
}

/** Drops a file on the heading of the screen, which is not a file field. */
export async function dropFile(page: Page, name: string, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    ([fileName, content]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], fileName));
      return transfer;
    },
    [name, text] as const,
  );
  await page.dispatchEvent('h1', 'drop', { dataTransfer });
}

/** Opens the menu of further actions, and chooses one. */
export async function chooseAction(within: Page | Locator, name: string): Promise<void> {
  await within.getByRole('button', { name: 'More actions' }).click();
  const page = 'page' in within ? within.page() : within;
  await page.getByRole('menuitem', { name }).click();
}
