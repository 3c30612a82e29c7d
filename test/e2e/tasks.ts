// The 20 tasks of an administrator's month, each with the clicks that it may take. The specs that do other things on
// the same screens do them as well; test/tasks.test.ts checks that every task is done once.
import { expect, type Page, test } from '@playwright/test';

/** From the overview, or from the open license where the name says so. */
const TASKS = {
  'set up the server and call it': 4,
  'issue a license and hand it over': 3,
  'find a license by half a key on the phone': 2,
  'move a device of the open license': 3,
  'find out why a device was denied, and fix it': 4,
  'renew 30 licenses': 5,
  'import 500 licenses with 3 bad lines': 8,
  'export the licenses of a plan': 7,
  'activate an air-gapped machine': 4,
  'connect a receiver on the network with a private CA': 10,
  'retry all failed events': 3,
  'issue a certificate and download its key': 6,
  'revoke a certificate and download the CRL': 8,
  'create a plan': 3,
  'download the figures of the last quarter': 3,
  'find out who revoked a license': 4,
  'back up and restore': 6,
  'rotate the signing key': 4,
  'open the API to the network with TLS': 6,
  'create an API token and sign the others out': 8,
} as const;

type Task = keyof typeof TASKS;

const COUNTED_AS = 'license-desk-clicks';

/** Typing is free. A choice in a list of the system is two clicks, a chosen file one. */
function countClicks(key: string): void {
  const page = window as unknown as { countsClicks?: boolean };
  if (page.countsClicks) return;
  page.countsClicks = true;
  const add = (clicks: number) =>
    sessionStorage.setItem(key, String(Number(sessionStorage.getItem(key)) + clicks));
  addEventListener('pointerdown', () => add(1), { capture: true });
  const onKey = ({ key: pressed, target, repeat }: KeyboardEvent) => {
    if (repeat || !(target instanceof HTMLElement)) return;
    const isActivated =
      pressed === 'Enter'
        ? !target.matches('textarea')
        : pressed === ' ' && !target.matches('input:not([type="checkbox"], [type="radio"]), textarea');
    if (isActivated) add(1);
  };
  addEventListener('keydown', onKey, { capture: true });
  const onChange = ({ target }: Event) => {
    if (target instanceof HTMLSelectElement) add(2);
    else if (target instanceof HTMLInputElement && target.type === 'file') add(1);
  };
  addEventListener('change', onChange, { capture: true });
}

/** Does a task, and checks how many clicks it took. */
export async function task<Result>(page: Page, name: Task, run: () => Promise<Result>): Promise<Result> {
  return test.step(name, async () => {
    await page.addInitScript(countClicks, COUNTED_AS);
    await page.evaluate(countClicks, COUNTED_AS);
    await page.evaluate((key) => sessionStorage.setItem(key, '0'), COUNTED_AS);
    const result = await run();
    const clicks = await page.evaluate((key) => Number(sessionStorage.getItem(key)), COUNTED_AS);
    expect(clicks, `clicks to ${name}`).toBeGreaterThan(0);
    expect(clicks, `clicks to ${name}`).toBeLessThanOrEqual(TASKS[name]);
    return result;
  });
}

/** Clicks on a screen in the navigation, whose link may have a count behind its name. */
export async function goTo(page: Page, screen: string): Promise<void> {
  await page
    .getByRole('navigation')
    .getByRole('link', { name: new RegExp(`^${screen}`, 'u') })
    .click();
}
