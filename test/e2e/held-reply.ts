// A call that was carried out, but whose reply the page has not received yet.
import type { Page } from '@playwright/test';
import { gate } from './gate.ts';

/** @param path of the back office's API, such as `certs/generate/`; the reply is held until `release()` */
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
