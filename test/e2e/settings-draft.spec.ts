// What was entered in the settings is neither lost nor refused without a word.
import type { Page } from '@playwright/test';
import { gate } from './gate.ts';
import { holdReply } from './held-reply.ts';
import { goTo } from './tasks.ts';
import { alertWith, expect, stayWhenAsked, test } from './test.ts';

const saveBar = (page: Page) => page.getByRole('group', { name: 'Unsaved changes' });
const save = (page: Page) => saveBar(page).getByRole('button', { name: 'Save changes' }).click();

test(
  'Save opens the tab of the refused setting, and Discard forgets why',
  { tag: '@browser' },
  async ({ desk }) => {
    await desk.goto('/#/settings');
    const limit = desk.getByLabel('Rate limit: token checks');
    await limit.fill('lots');
    await desk.getByRole('tab', { name: 'Language' }).click();
    await save(desk);
    await expect(desk.getByRole('tab', { name: 'Network' })).toHaveAttribute('aria-selected', 'true');
    await expect(alertWith(desk, 'must be 0 to 1000000')).toBeVisible();
    await expect(limit).toBeFocused();
    await saveBar(desk).getByRole('button', { name: 'Discard' }).click();
    await expect(limit).toHaveValue('60');
    await expect(limit).not.toHaveAttribute('aria-invalid', 'true');
    await expect(desk.getByRole('alert')).toHaveCount(0);
  },
);

test('an empty address is not saved as the default one', { tag: '@browser' }, async ({ desk }) => {
  await desk.goto('/#/settings');
  await desk.getByRole('radio', { name: 'One address' }).check();
  await desk.getByRole('tab', { name: 'Language' }).click();
  await save(desk);
  await expect(desk.getByRole('tab', { name: 'Network' })).toHaveAttribute('aria-selected', 'true');
  await expect(desk.getByText('This field is required.')).toBeVisible();
  await expect(saveBar(desk)).toBeVisible();
});

test(
  'what was entered is not left with the tab without a question, on any screen, until it is discarded',
  { tag: '@browser' },
  async ({ desk }) => {
    const asked = stayWhenAsked(desk);
    await desk.goto('/#/settings');
    await desk.getByLabel('Rate limit: token checks').fill('70');
    await goTo(desk, 'Audit');
    await expect(desk.getByRole('heading', { level: 1, name: 'Audit' })).toBeVisible();
    await desk.close({ runBeforeUnload: true });
    await expect.poll(() => asked).toEqual(['beforeunload']);
    await desk.goBack();
    await saveBar(desk).getByRole('button', { name: 'Discard' }).click();
    await expect(saveBar(desk)).toHaveCount(0);
    await desk.reload();
    await expect(desk.getByLabel('Rate limit: token checks')).toHaveValue('60');
    expect(asked).toEqual(['beforeunload']);
  },
);

test('what is entered during a save is kept', { tag: '@browser' }, async ({ desk }) => {
  await desk.goto('/#/settings');
  const [asked, released] = [gate(), gate()];
  await desk.route('**/admin/api/settings/', async (route) => {
    if (route.request().method() !== 'GET') {
      asked.open();
      await released.isOpen;
    }
    await route.continue();
  });
  await desk.getByLabel('Rate limit: token checks').fill('70');
  await save(desk);
  await asked.isOpen;
  await desk.getByLabel('Rate limit: token checks').fill('80');
  released.open();
  await expect(desk.getByText('60 until the next restart.')).toBeVisible();
  await expect(saveBar(desk)).toContainText('Rate limit: token checks: 70 → 80');
});

/** Two tabs of one session, each with an entry that is not saved. */
async function enterInTwoTabs(desk: Page): Promise<Page[]> {
  const tabs = [desk, await desk.context().newPage()];
  for (const [index, tab] of tabs.entries()) {
    await tab.goto('/#/settings');
    await tab.getByLabel('Rate limit: token checks').fill(`7${index}`);
    await expect(saveBar(tab)).toContainText(`Rate limit: token checks: 60 → 7${index}`);
  }
  return tabs;
}

/** Signs in with a new link on the first tab, which the others follow. */
async function expectNoEntries([desk, ...others]: Page[], link: string): Promise<void> {
  await desk!.getByLabel('Already have a link?').fill(link);
  await desk!.getByRole('button', { name: 'Sign in' }).click();
  for (const tab of [desk!, ...others]) {
    await expect(tab.getByLabel('Rate limit: token checks')).toHaveValue('60');
    await expect(saveBar(tab)).toHaveCount(0);
  }
}

test('signing out discards what was entered, in all tabs', { tag: '@browser' }, async ({ desk, server }) => {
  const tabs = await enterInTwoTabs(desk);
  await desk.getByRole('button', { name: 'Sign out' }).click();
  for (const tab of tabs) await expect(tab.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await expectNoEntries(tabs, await server.link());
});

test(
  'what was entered when the session ended can be discarded by the next administrator, in all tabs',
  { tag: '@browser' },
  async ({ desk, server }) => {
    const tabs = await enterInTwoTabs(desk);
    await server.cli('session', 'end', '--all');
    for (const tab of tabs) await expect(tab.getByRole('dialog', { name: 'Sign in' })).toBeVisible();
    await desk.getByRole('button', { name: 'Discard open drafts' }).click();
    for (const tab of tabs) await expect(tab.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    await expectNoEntries(tabs, await server.link());
  },
);

test(
  'what was entered when the session ended is kept for the next sign-in',
  { tag: '@browser' },
  async ({ desk, server }) => {
    await desk.goto('/#/settings');
    await desk.getByLabel('Rate limit: token checks').fill('70');
    await desk.getByRole('tab', { name: 'Language' }).click();
    await server.cli('session', 'end', '--all');
    await expect(desk.getByRole('dialog', { name: 'Sign in' })).toBeVisible();
    await desk.getByLabel('Already have a link?').fill(await server.link());
    await desk.getByRole('button', { name: 'Sign in' }).click();
    await expect(saveBar(desk)).toContainText('Rate limit: token checks: 60 → 70');
  },
);

test(
  'the next administrator cannot undo what was saved before the session ended',
  { tag: '@browser' },
  async ({ desk, server }) => {
    await desk.goto('/#/settings');
    await desk.getByLabel('Rate limit: token checks').fill('70');
    await save(desk);
    const undo = desk.getByRole('log').getByRole('button', { name: 'Undo' });
    // It stays under the pointer.
    await undo.hover();
    await server.cli('session', 'end', '--all');
    await desk.getByRole('button', { name: 'Discard open drafts' }).click();
    await desk.getByLabel('Already have a link?').fill(await server.link());
    await desk.getByRole('button', { name: 'Sign in' }).click();
    await expect(desk.getByText('60 until the next restart.')).toBeVisible();
    await expect(undo).toHaveCount(0);
  },
);

test(
  'what was saved cannot be undone by the next administrator either if the session ends at once',
  { tag: '@browser' },
  async ({ desk, server }) => {
    await desk.goto('/#/settings');
    await desk.getByLabel('Rate limit: token checks').fill('70');
    const { asked, release } = await holdReply(desk, 'settings/', 'GET');
    await save(desk);
    await asked;
    await desk.getByRole('button', { name: 'Sign out' }).click();
    await desk.getByLabel('Already have a link?').fill(await server.link());
    await desk.getByRole('button', { name: 'Sign in' }).click();
    await expect(desk.getByRole('button', { name: 'Sign out' })).toBeVisible();
    release();
    for (const name of ['token checks', 'other public calls'])
      await desk.getByLabel(`Rate limit: ${name}`).fill('80');
    await save(desk);
    const results = desk.getByRole('log');
    await expect(results).toContainText('2 settings saved');
    // At once: each result disappears after a while.
    expect(await results.getByRole('button', { name: 'Undo' }).count()).toBe(1);
  },
);
