// Requests of the page that take as long as a test needs.
import type { Page } from '@playwright/test';
import { gate } from './gate.ts';

/** Holds requests before the server has them. @param url as `page.route` takes it @returns `asked` resolves with the URL */
export async function holdRequests(desk: Page, url: string) {
  const { promise: asked, resolve: ask } = Promise.withResolvers<string>();
  const released = gate();
  await desk.route(url, async (route) => {
    ask(route.request().url());
    await released.isOpen;
    await route.continue();
  });
  return { asked, release: released.open };
}

/** Holds calls that the server has carried out. @param path of the back office's API, such as `certs/generate/`; the reply is held until `release()` */
export async function holdReply(desk: Page, path: string, method = 'POST') {
  const [asked, released] = [gate(), gate()];
  await desk.route(`**/admin/api/${path}*`, async (route) => {
    if (route.request().method() !== method) return route.continue();
    const response = await route.fetch();
    asked.open();
    await released.isOpen;
    return route.fulfill({ response });
  });
  return { asked: asked.isOpen, release: released.open };
}
