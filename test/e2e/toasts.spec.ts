// Results of actions are seen and read out also while a dialog is open, which makes the rest of the page inert.
import type { Page } from '@playwright/test';
import { holdReply } from './held-reply.ts';
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
    const results = dialog.getByRole('log', { name: 'Results' });
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
    const after = desk.getByRole('log', { name: 'Results' }).getByText('Template saved', { exact: true });
    await expect(after).toBeVisible();
    await desk.getByRole('log', { name: 'Results' }).getByRole('button', { name: 'Close' }).click();
    await expect(after).toHaveCount(0);
  },
);

/** Notes for each result whether it is added to a region that the page has shown before, not covered by a dialog. */
async function noteAnnounced(desk: Page): Promise<() => Promise<boolean[]>> {
  const noted = await desk.evaluateHandle(() => {
    const announced: boolean[] = [];
    let uncovered: Element | null = null;
    const look = () => {
      uncovered = document.querySelector('dialog:modal') ? null : document.querySelector('[role="log"]');
      requestAnimationFrame(look);
    };
    look();
    new MutationObserver((changes) => {
      for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes]))
        if (node instanceof Element)
          for (const toast of node.matches('.toast') ? [node] : node.querySelectorAll('.toast'))
            announced.push(toast.parentElement === uncovered);
    }).observe(document.body, { childList: true, subtree: true });
    return announced;
  });
  return () => noted.jsonValue();
}

test('the result of a dialog is read out after it closes', { tag: '@browser' }, async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('/#/licenses?open=1');
  await holdResults(desk);
  const announced = await noteAnnounced(desk);
  const results = desk.getByRole('log', { name: 'Results' });
  const before = await results.elementHandle();
  await desk.getByRole('complementary').getByRole('button', { name: 'Renew' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Renew' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(results.getByText(/^License of Acme renewed until/u)).toBeVisible();
  expect(await results.evaluate((log, earlier) => log === earlier, before)).toBe(true);
  expect(await announced()).toEqual([true]);
});

test(
  'a result that arrives after the sign-out is not shown to the next administrator',
  { tag: '@browser' },
  async ({ desk, server }) => {
    const archive = async (plan: string) => {
      await desk.getByRole('button', { name: `More actions for ${plan}`, exact: true }).click();
      await desk.getByRole('menuitem', { name: 'Archive' }).click();
    };
    await desk.goto('/#/plans');
    const { asked, release } = await holdReply(desk, 'plans/', 'PUT');
    await archive('trial');
    await asked;
    await desk.getByRole('button', { name: 'Sign out' }).click();
    await desk.getByLabel('Already have a link?').fill(await server.link());
    await desk.getByRole('button', { name: 'Sign in' }).click();
    await expect(desk.getByRole('columnheader', { name: 'standard' })).toBeVisible();
    const replied = desk.waitForResponse((response) => response.request().method() === 'PUT');
    release();
    await (await replied).finished();
    await archive('standard');
    const results = desk.getByRole('log', { name: 'Results' });
    await expect(results).toContainText('Plan Standard archived');
    // At once: each result disappears after a while.
    expect(await results.getByRole('button', { name: 'Undo' }).count()).toBe(1);
  },
);
