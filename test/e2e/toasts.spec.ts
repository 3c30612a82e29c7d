// Results of actions are seen and read out also while a dialog is open, which makes the rest of the page inert.
import type { Page } from '@playwright/test';
import { expect, issueLicense, test } from './test.ts';

/** Keeps results on the page, as the pointer on them does. */
async function holdResults(desk: Page): Promise<void> {
  await desk.evaluate(() => {
    const hold = () => {
      for (const toast of document.querySelectorAll('.toast'))
        toast.dispatchEvent(new PointerEvent('pointerenter'));
    };
    new MutationObserver(hold).observe(document.body, { childList: true, subtree: true });
  });
}

test(
  'a result is above the open dialog, and screen readers find it',
  { tag: '@browser' },
  async ({ desk }) => {
    await issueLicense(desk, { holder: 'Acme' });
    await desk.setViewportSize({ width: 390, height: 844 });
    await desk.goto('/#/licenses?open=1');
    await desk.getByRole('complementary').getByRole('button', { name: 'Hand over' }).click();
    await holdResults(desk);
    const dialog = desk.getByRole('dialog', { name: 'Hand over the license of Acme' });
    await dialog.getByRole('button', { name: 'Edit template' }).click();
    await dialog.getByRole('button', { name: 'Save template' }).click();
    const results = desk.getByRole('log', { name: 'Results' });
    const text = results.getByText('Template saved', { exact: true });
    await expect(text).toBeVisible();
    const isUncovered = await results.evaluate((log) => {
      const { left, top, width, height } = log.querySelector('.toast')!.getBoundingClientRect();
      return log.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    });
    expect(isUncovered).toBe(true);
    const session = await desk.context().newCDPSession(desk);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const read = nodes.filter(({ ignored }) => !ignored).map(({ name }) => name?.value as unknown);
    expect(read).toContain('Template saved');

    await desk.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
    await expect(text).toBeVisible();
    await results.getByRole('button', { name: 'Close' }).click();
    await expect(text).toHaveCount(0);
  },
);
