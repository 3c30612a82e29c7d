// Playwright's `test` with a server of its own for each test, and a guard over everything the page does.
import { test as base, expect, type BrowserContext, type Page } from '@playwright/test';
import { startServer, type TestServer } from './server.ts';

interface Guard {
  /** What the content security policy refused. */
  violations: string[];
  /** Requests that went to anybody but the server. */
  strayRequests: string[];
}

interface Fixtures {
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
  serverFlags: [[], { option: true }],
  server: async ({ serverFlags }, use) => {
    const server = await startServer(serverFlags);
    await use(server);
    await server.dispose();
  },
  baseURL: ({ server }, use) => use(server.origin),
  guard: [
    async ({ context, server }, use) => {
      const guard: Guard = { violations: [], strayRequests: [] };
      await watchViolations(context, guard.violations);
      context.on('request', (request) => {
        if (new URL(request.url()).origin !== server.origin) guard.strayRequests.push(request.url());
      });
      await use(guard);
      expect(guard.violations, 'refused by the content security policy').toEqual([]);
      expect(guard.strayRequests, 'requests to anybody but the server').toEqual([]);
    },
    { auto: true },
  ],
  desk: async ({ page, server, guard: _guard }, use) => {
    await signInAndSkipFirstSteps(page, server);
    await page.goto('/');
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
    await use(page);
  },
});

export { expect } from '@playwright/test';

interface NewLicense {
  holder: string;
  plan?: string;
  product?: string;
  days?: number;
  expires_at?: string;
}

/** Issues a license in the session that the page is signed in with; gives back its key. */
export async function issueLicense(page: Page, license: NewLicense): Promise<string> {
  const response = await page.request.post('/admin/api/licenses/', { data: license });
  expect(response.ok(), await response.text()).toBe(true);
  const reply = (await response.json()) as { license: { license_key: string } };
  return reply.license.license_key;
}
