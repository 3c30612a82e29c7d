// What axe finds on the screen that is shown, light and dark.
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect } from './test.ts';

/** The rules of WCAG 2.2, levels A and AA, and axe's own good practice; in the dark, what the colours decide. */
export async function expectAccessible(page: Page): Promise<void> {
  await loadAxe(page);
  await show(page, 'light');
  await expectNothingFound(axeOn(page), 'light');
  await show(page, 'dark');
  await expectNothingFound(axeOn(page).withRules(['color-contrast', 'link-in-text-block']), 'dark');
  await page.emulateMedia({ colorScheme: null });
}

/** Level AAA of the rule about the contrast of texts. */
export async function expectReadable(page: Page, where: string): Promise<void> {
  await loadAxe(page);
  for (const colorScheme of ['light', 'dark'] as const) {
    await show(page, colorScheme);
    await expectNothingFound(axeOn(page).withRules('color-contrast-enhanced'), `${where}, ${colorScheme}`);
  }
}

/** Until the colours have changed, which transitions do step by step. */
async function show(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(async () => {
    for (let frames = 0; frames < 2; frames += 1)
      await new Promise((resolve) => {
        requestAnimationFrame(resolve);
      });
    const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    await Promise.allSettled(transitions.map(({ finished }) => finished));
  });
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

/** Without frames there is nothing to combine in a second page. Only violations are described in detail. */
const axeOn = (page: Page) =>
  new AxeBuilder({ page, axeSource: ALREADY_LOADED })
    .setLegacyMode(true)
    .options({ resultTypes: ['violations'] });

/** The builder would load axe, 1.5 MB, twice for each analysis. */
const ALREADY_LOADED = ';';

async function loadAxe(page: Page): Promise<void> {
  if (await page.evaluate(() => 'axe' in globalThis)) return;
  await page.evaluate(new AxeBuilder({ page })['script']());
}
