// What only Electron itself can prove: isolation, permissions, clipboard.
import { expect, expectBriefly, test } from './test.ts';

test.skip(({ place }) => place !== 'electron', 'this is about Electron itself');

test('the page has no access to Node, its copy buttons work, and it opens no window', async ({ desk }) => {
  await expect(desk.getByText('Electron')).toBeVisible();
  expect(desk.url()).not.toContain('code=');
  expect(await desk.evaluate(() => 'require' in globalThis || 'process' in globalThis)).toBe(false);
  const copy = desk.getByRole('button', { name: 'Copy: API address' });
  await expectBriefly(copy, 'Copied', () => copy.click());
  expect(await desk.evaluate(() => window.open('https://example.com/'))).toBeNull();
});
