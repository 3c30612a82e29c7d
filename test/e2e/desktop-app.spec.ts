// What only Electron itself can prove: isolation, permissions, clipboard.
import { expect, test } from './test.ts';

test.skip(({ place }) => place !== 'electron', 'this is about Electron itself');

test('the page has no access to Node, its copy buttons work, and it opens no window', async ({ desk }) => {
  await expect(desk.getByText('Electron')).toBeVisible();
  expect(desk.url()).not.toContain('code=');
  expect(await desk.evaluate(() => 'require' in globalThis || 'process' in globalThis)).toBe(false);
  await desk.getByRole('button', { name: 'Copy: API address' }).click();
  await expect(desk.getByRole('button', { name: 'Copy: API address' })).toHaveText('Copied');
  expect(await desk.evaluate(() => window.open('https://example.com/'))).toBeNull();
});
