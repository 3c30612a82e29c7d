// Routes that apply to the next call of the page.
import type { Page } from '@playwright/test';

const PROBE = '/routed/';

/**
 * Chromium reports that it intercepts calls before the page's document knows. A call in between goes past the route, and
 * Playwright does not even report it. Adding a route therefore waits until a call of the page was intercepted.
 */
export function withPromptRoutes(page: Page): Page {
  const route = page.route.bind(page);
  page.route = async (...asked) => {
    const added = await route(...asked);
    if (!page.url().startsWith('http')) return added;
    await route(`**${PROBE}`, (probe) => probe.fulfill({ status: 204 }));
    await page.evaluate(async (probe) => {
      // Whatever a call answers that was not intercepted, if the server is there at all.
      const isRouted = () =>
        fetch(probe).then(
          ({ status }) => status === 204,
          () => false,
        );
      while (!(await isRouted()));
    }, PROBE);
    await page.unroute(`**${PROBE}`);
    return added;
  };
  return page;
}
