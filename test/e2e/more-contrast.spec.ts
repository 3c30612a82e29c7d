// With `prefers-contrast: more`, texts have 7:1 (WCAG 1.4.6), and lines and controls that are pale otherwise can be seen.
import type { Locator } from '@playwright/test';
import { firstOrAll } from '../helpers/long-lane.ts';
import { expectReadable } from './accessibility.ts';
import { createRecords, SCREENS } from './screens.ts';
import { expect, issueLicense, test } from './test.ts';

test.use({ serverFlags: ['--webhook-allow', '127.0.0.0/8'] });

test.beforeEach(({ desk }) => desk.emulateMedia({ contrast: 'more' }));

test('every text has a contrast of 7:1', async ({ desk }) => {
  test.slow();
  await createRecords(desk);
  for (const [address, content] of firstOrAll(8, SCREENS)) {
    await desk.goto(`/#/${address}`);
    await expect(content(desk), address).toBeVisible();
    await expect(desk.getByText('Loading')).toHaveCount(0);
    await expectReadable(desk, address);
  }
});

const style = (element: Locator, property: string) =>
  element.evaluate((node, name) => getComputedStyle(node).getPropertyValue(name), property);

test('states, buttons and the focus ring have borders that can be seen', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme', days: 3 });
  await desk.goto('/#/licenses');
  const state = desk.getByRole('row').filter({ hasText: 'Acme' }).getByText('Expiring', { exact: true });
  await expect(state).toBeVisible();
  expect(await style(state, 'outline-style')).toBe('solid');
  const create = desk.getByRole('button', { name: 'New license' });
  expect(await style(create, 'border-top-color')).toBe(await style(create, 'color'));
  await desk.keyboard.press('Tab');
  expect(await style(desk.locator(':focus-visible'), 'outline-width')).toBe('3px');
});

test('a chart follows the preference while it is shown', { tag: '@browser' }, async ({ desk }) => {
  await desk.emulateMedia({ contrast: 'no-preference', colorScheme: 'light' });
  await desk.goto('/#/statistics');
  const chart = desk.getByRole('img', { name: 'Authorizations per day' });
  const colors = () =>
    chart.evaluate((element) => {
      const { width, height } = element as HTMLCanvasElement;
      const { data } = (element as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, width, height);
      const found = new Set<string>();
      for (let at = 0; at < data.length; at += 4)
        if (data[at + 3] === 255) found.add(data.slice(at, at + 3).join(' '));
      return [...found];
    });
  await expect.poll(colors).toContain('59 91 219');
  await desk.emulateMedia({ contrast: 'more' });
  await expect.poll(colors).toContain('31 55 143');
  await expect.poll(colors).not.toContain('59 91 219');
});
