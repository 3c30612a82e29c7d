import { expectAccessible } from './accessibility.ts';
import { expect, issueLicense, test } from './test.ts';
import { task } from './tasks.ts';

const FINGERPRINT = `sha256:${'4f'.repeat(32)}`;

test('a denied call is on the overview, explained with one click and remedied with another', async ({
  desk,
  server,
}) => {
  const key = await issueLicense(desk, { holder: 'Fjord Instruments' });
  const denied = await fetch(`${server.api}authorize/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ license_key: key, machine_fingerprint: FINGERPRINT }),
  });
  expect(await denied.json()).toMatchObject({ authorized: false });
  await server.cli('license', 'denials', key);

  const today = desk.getByRole('region', { name: 'Denied today' });
  await expect(today).toContainText('1 call · 1 license');
  await expect(today.getByRole('listitem')).toContainText('Device not activated');
  await expectAccessible(desk);

  const inspector = desk.getByRole('complementary', { name: 'Fjord Instruments' });
  const calls = inspector.getByRole('region', { name: 'Denied calls' });
  const verdict = inspector.getByRole('region', { name: 'Result' });
  await task(desk, 'find out why a device was denied, and fix it', async () => {
    await today.getByRole('link', { name: 'Fjord Instruments' }).click();
    await expect(calls.getByRole('listitem')).toContainText('Device 4f4f4f4f…4f4f');
    // The last one is explained without a click.
    await expect(calls.getByRole('button', { name: 'Explain: Device not activated' })).toHaveAttribute(
      'aria-current',
      'true',
    );
    await expect(calls.locator('[aria-pressed]')).toHaveCount(0);
    await expect(verdict.getByRole('status').first()).toContainText(
      'The device is not activated on this license.',
    );
    await expect(inspector.getByLabel('Device fingerprint')).toHaveValue(FINGERPRINT);
    await expect(verdict).toBeInViewport();
    // In words, not with the names of the API.
    const term = verdict.getByRole('listitem').filter({ hasText: 'Within term' });
    await expect(term.getByRole('term')).toHaveText(['Expires', 'Grace period ends', 'Now']);
    await expect(verdict).not.toContainText(/[a-z]_[a-z]/u);
    await expectAccessible(desk);

    await verdict.getByRole('button', { name: 'Activate this device' }).click();
    await desk.getByRole('button', { name: 'Activate', exact: true }).click();
    await expect(desk.getByRole('dialog').getByRole('status')).toContainText('The device is active.');
    await desk.getByRole('button', { name: 'Done' }).click();
    await expect(verdict.getByRole('status').first()).toHaveText('Authorized');
  });
  await expect(calls.getByRole('button', { name: 'Activate this device' })).toHaveCount(0);
});
