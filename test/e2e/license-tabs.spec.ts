import { expectAccessible } from './accessibility.ts';
import { expect, issueLicense, test } from './test.ts';

test('five tabs fit on one line, and every view behind them has its address', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  const inspector = desk.getByRole('complementary', { name: 'Acme' });
  const tab = (name: string) => inspector.getByRole('tab', { name });
  for (const [address, name, view] of [
    ['tokens', 'Access', 'Tokens'],
    ['certificates', 'Access', 'Certificates'],
    ['file', 'Access', 'License file'],
    ['deliveries', 'Activity', 'Deliveries'],
    ['timeline', 'Activity', 'History'],
  ] as const) {
    await desk.goto(`/#/licenses?open=1&tab=${address}`);
    await expect(tab(name)).toHaveAttribute('aria-selected', 'true');
    const shown = inspector.getByRole('button', { name: view, exact: true });
    await expect(shown).toHaveAttribute('aria-pressed', 'true');
    await expectAccessible(desk);
  }
  await tab('Activity').focus();
  await desk.keyboard.press('ArrowLeft');
  await expect(tab('Access')).toBeFocused();
  await expect(inspector.getByRole('button', { name: 'Issue token' })).toBeVisible();

  for (const language of ['English', 'Deutsch']) {
    await desk.setViewportSize({ width: 1440, height: 900 });
    await desk.getByLabel(/Language|Sprache/u).selectOption(language);
    for (const width of [1440, 900, 390]) {
      await desk.setViewportSize({ width, height: 844 });
      await expect(inspector.getByRole('tab')).toHaveCount(5);
      for (const each of await inspector.getByRole('tab').all())
        await expect(each, `${language} at ${width} px`).toBeInViewport({ ratio: 1 });
    }
  }
});
