// What axe finds on the screen that is shown, light and dark.
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect } from './test.ts';

/** The rules of WCAG 2.2, levels A and AA, and axe's own good practice; in the dark, what the colours decide. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await expectNothingFound(axeOn(page), 'light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectNothingFound(axeOn(page).withRules(['color-contrast', 'link-in-text-block']), 'dark');
  await page.emulateMedia({ colorScheme: null });
}

async function expectNothingFound(axe: AxeBuilder, colorScheme: string): Promise<void> {
  const { violations } = await axe.analyze();
  const found = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    where: nodes.map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`),
  }));
  expect(found, colorScheme).toEqual([]);
}

/** Without frames there is nothing to put together in a page of its own. */
const axeOn = (page: Page) => new AxeBuilder({ page }).setLegacyMode(true);
