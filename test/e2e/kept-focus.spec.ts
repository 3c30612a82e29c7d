// The keyboard continues where it was: the focus does not fall to the top of the page with a control that leaves it, or
// that cannot be used for a moment (WCAG 2.4.3, 3.3.1).
import type { Locator, Page } from '@playwright/test';
import { holdReply, holdRequests } from './held-reply.ts';
import { expect, issueLicense, test } from './test.ts';

test.use({ serverFlags: ['--webhook-allow', '127.0.0.0/8'] });

async function create(desk: Page, path: string, data: object): Promise<void> {
  const reply = await desk.request.post(`/admin/api/${path}/`, { data });
  expect(reply.ok(), await reply.text()).toBe(true);
}

/** With the keyboard alone. */
async function choose(trigger: Locator, action: string): Promise<void> {
  const desk = trigger.page();
  await trigger.press('Enter');
  await desk.getByRole('menuitem', { name: action }).press('Enter');
}

test.describe('a dialog from a menu gives the focus back to the menu’s button', () => {
  const openAndCancel = async (trigger: Locator, actions: readonly string[]) => {
    const dialog = trigger.page().getByRole('dialog');
    // The second time, its code is loaded already.
    for (const action of actions.flatMap((one) => [one, one])) {
      await choose(trigger, action);
      await expect(dialog).toBeVisible();
      await trigger.page().keyboard.press('Escape');
      await expect(dialog).toHaveCount(0);
      await expect(trigger, action).toBeFocused();
    }
  };

  test('in the record of a webhook, and on its page', async ({ desk }) => {
    await create(desk, 'webhooks/register', { url: 'https://127.0.0.1:9/hook', scope: 'all' });
    await desk.goto('/#/webhooks?open=1');
    const record = desk.getByRole('complementary');
    await openAndCancel(record.getByRole('button', { name: 'More actions' }), [
      'Edit',
      'Rotate secret',
      'Delete',
    ]);
    await desk.keyboard.press('Escape');
    await expect(record).toHaveCount(0);
    await desk.goto('/#/webhooks/1');
    await openAndCancel(desk.getByRole('button', { name: 'More actions' }), ['Delete']);
  });

  test('in the record of a license', async ({ desk }) => {
    await issueLicense(desk, { holder: 'Acme' });
    await desk.goto('/#/licenses?open=1');
    const trigger = desk.getByRole('complementary').getByRole('button', { name: 'More actions' });
    await openAndCancel(trigger, ['Edit', 'Upgrade', 'Revoke']);
  });

  test('on a plan', async ({ desk }) => {
    await desk.goto('/#/plans');
    const trigger = desk.getByRole('button', { name: 'More actions for standard' });
    await openAndCancel(trigger, ['Edit', 'Delete']);
  });
});

async function openRules(desk: Page, users: readonly string[]): Promise<void> {
  await create(desk, 'plans', { name: 'pool', licensing: 'floating', seats: 10 });
  const license = await issueLicense(desk, { holder: 'Acme', plan: 'pool' });
  for (const user of users) await create(desk, 'lease-rules', { license, type: 'deny', match: { user } });
  await desk.goto('/#/floating?view=rules&license=1');
  await expect(desk.getByRole('region', { name: 'Rules', exact: true }).getByRole('listitem')).toHaveCount(
    users.length,
  );
}

test('a refused dialog keeps the focus on its button', async ({ desk }) => {
  await openRules(desk, []);
  await create(desk, 'lease-groups', { name: 'cad-team', kind: 'user', members: ['ada'] });
  await create(desk, 'lease-rules', { license: '1', type: 'deny', match: { group: 'cad-team' } });
  await desk.getByRole('button', { name: 'Delete group cad-team' }).press('Enter');
  const dialog = desk.getByRole('dialog');
  const submit = dialog.getByRole('button', { name: 'Delete' });
  await submit.press('Enter');
  await expect(dialog.getByRole('alert')).toBeVisible();
  await expect(submit).toBeFocused();
});

test('a form that gets no answer keeps the focus on its button, and is sent once', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('/#/licenses?open=1&action=edit');
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('Holder').fill('Globex');
  let calls = 0;
  desk.on('request', (request) => (calls += Number(request.method() === 'PUT')));
  const { asked, release } = await holdReply(desk, 'licenses/', 'PUT');
  const save = dialog.getByRole('button', { name: 'Save' });
  await save.press('Enter');
  await asked;
  await desk.keyboard.press('Enter');
  await save.dispatchEvent('click');
  release();
  await expect(dialog).toHaveCount(0);
  expect(calls).toBe(1);

  await desk.route('**/admin/api/licenses/', (route) => route.abort());
  await desk.goto('/#/licenses?open=1&action=edit');
  await dialog.getByLabel('Holder').fill('Initech');
  await save.press('Enter');
  await expect(dialog.getByRole('alert')).toContainText('The server did not respond');
  await expect(save).toBeFocused();
});

test('a field that the server refuses gets the focus, and the message describes it', async ({ desk }) => {
  await desk.goto('/#/licenses?new=1');
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('Holder').fill('Acme');
  const email = dialog.getByLabel('Email');
  await email.fill('nowhere');
  const submit = dialog.getByRole('button', { name: 'Issue license' });
  for (const _try of [1, 2]) {
    await submit.press('Enter');
    await expect(email).toBeFocused();
    await expect(email).toHaveAttribute('aria-invalid', 'true');
    await expect(email).toHaveAccessibleDescription(/Email.*must be/u);
  }
  await email.fill('');
  await submit.press('Enter');
  await expect(dialog.getByRole('button', { name: 'Done' })).toBeVisible();
});

test('so does a refused certificate, also one that is out of view', async ({ desk }) => {
  await desk.goto('/#/certificates');
  await desk.getByRole('button', { name: 'Check certificate' }).click();
  const dialog = desk.getByRole('dialog');
  const certificate = dialog.getByLabel('Certificate (PEM) or serial number');
  await certificate.fill('no such thing');
  await dialog.getByRole('button', { name: 'Check', exact: true }).press('Enter');
  await expect(certificate).toBeFocused();
  await expect(certificate).toHaveAccessibleDescription(/must be a serial number in hex/u);

  await desk.goto('/#/webhooks');
  await desk.getByRole('button', { name: 'Register your first webhook' }).click();
  await dialog.getByLabel('URL').fill('https://93.184.216.34/hook');
  const summary = dialog.getByText('The receiver uses a private certificate authority');
  const authority = dialog.getByLabel('CA certificates (PEM)');
  await summary.click();
  await authority.fill('no such thing');
  await summary.click();
  await expect(authority).toBeHidden();
  await dialog.getByRole('button', { name: 'Register' }).press('Enter');
  await expect(authority).toBeFocused();
  await expect(authority).toHaveAccessibleDescription(/must be one or more certificates in PEM/u);
});

test('the next rule gets the focus of a deleted one, and the panel that of the last', async ({ desk }) => {
  await openRules(desk, ['ada', 'grace', 'linus']);
  const rules = desk.getByRole('region', { name: 'Rules', exact: true });
  const remove = async (position: number) => {
    await rules.getByRole('button', { name: `Delete rule ${position}` }).press('Enter');
    await desk.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
  };
  await remove(2);
  await expect(rules.getByRole('listitem').filter({ hasText: 'linus' })).toBeFocused();
  await remove(2);
  await expect(rules.getByRole('listitem').filter({ hasText: 'ada' })).toBeFocused();
  await desk.keyboard.press('Tab');
  await expect(rules.getByRole('button', { name: 'Edit rule 1' })).toBeFocused();
  await remove(1);
  await expect(rules.getByRole('heading')).toBeFocused();
});

test('the row of a revoked API token gets the focus of its button', async ({ desk }) => {
  await create(desk, 'api-tokens', { name: 'ERP', role: 'integrator' });
  await desk.goto('/#/api-access');
  await desk.getByRole('button', { name: 'Revoke ERP' }).press('Enter');
  await desk.getByRole('dialog').getByRole('textbox').fill('ERP');
  await desk.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter');
  await expect(desk.getByRole('row').filter({ hasText: 'ERP' })).toBeFocused();
});

test('the next plan gets the focus of an archived one', async ({ desk }) => {
  await desk.goto('/#/plans');
  await choose(desk.getByRole('button', { name: 'More actions for standard' }), 'Archive');
  await expect(desk.getByRole('button', { name: 'More actions for standard' })).toHaveCount(0);
  await expect(desk.getByRole('columnheader').filter({ hasText: 'professional' })).toBeFocused();
});

for (const view of ['rules', 'usage'])
  test(`without its license filter, the search for a license has the focus: ${view}`, async ({ desk }) => {
    await openRules(desk, []);
    await desk.goto(`/#/floating?view=${view}&license=1`);
    await desk.getByRole('button', { name: 'Remove license filter' }).press('Enter');
    await expect(desk.getByRole('searchbox')).toBeFocused();
  });

test('a result that is closed or undone gives the focus back', async ({ desk }) => {
  await openRules(desk, ['ada', 'grace']);
  const rules = desk.getByRole('region', { name: 'Rules', exact: true });
  const results = desk.getByRole('log', { name: 'Results' });
  const down = rules.getByRole('button', { name: 'Move rule 1 down' });
  const up = rules.getByRole('button', { name: 'Move rule 2 up' });
  await down.press('Enter');
  await expect(up).toBeFocused();
  await results.getByRole('button', { name: 'Close' }).press('Enter');
  await expect(results.getByRole('button')).toHaveCount(0);
  await expect(up).toBeFocused();

  await rules.getByRole('button', { name: 'Delete rule 2' }).press('Enter');
  await desk.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
  const left = rules.getByRole('listitem');
  await expect(left).toHaveCount(1);
  await expect(left).toBeFocused();
  await results.getByRole('button', { name: 'Undo' }).press('Enter');
  // Stays while the pointer is over it.
  await results.getByText('Undone', { exact: true }).hover();
  await expect(left).toHaveCount(2);
  await expect(left.first()).toBeFocused();

  // What had the focus before is gone.
  await desk.goto('/#/plans');
  await desk.evaluate(() => (document.activeElement as HTMLElement).blur());
  await results.getByRole('button', { name: 'Close' }).last().press('Enter');
  await expect(desk.getByRole('main')).toBeFocused();
});

test('a moved rule keeps the focus, also if other changes of the list come first', async ({ desk }) => {
  await openRules(desk, ['ada', 'grace']);
  const rules = desk.getByRole('region', { name: 'Rules', exact: true });
  const { asked, release } = await holdRequests(desk, '**/admin/api/lease-rules/');
  await rules.getByRole('button', { name: 'Move rule 1 down' }).press('Enter');
  await asked;
  const reply = await desk.request.put('/admin/api/lease-rules/', { data: { id: 2, note: 'left the team' } });
  expect(reply.ok(), await reply.text()).toBe(true);
  await expect(rules.getByText('left the team')).toBeVisible();
  release();
  await expect(rules.getByRole('listitem').last()).toContainText('ada');
  await expect(rules.getByRole('button', { name: 'Move rule 2 up' })).toBeFocused();
});

test('a moved rule cannot be moved again before its new position is known', async ({ desk }) => {
  await openRules(desk, ['ada', 'grace', 'linus']);
  const rules = desk.getByRole('region', { name: 'Rules', exact: true });
  const { asked, release } = await holdReply(desk, 'lease-rules/', 'GET');
  await rules.getByRole('button', { name: 'Move rule 1 down' }).press('Enter');
  await asked;
  await expect(rules.getByRole('button', { name: /^Move rule .* up$/u, disabled: false })).toHaveCount(0);
  release();
  const down = rules.getByRole('button', { name: 'Move rule 2 down' });
  await expect(down).toBeFocused();
  await down.press('Enter');
  await expect(rules.getByRole('listitem')).toContainText(['grace', 'linus', 'ada']);
});

test('what the user has left does not take the focus back', async ({ desk }) => {
  await openRules(desk, ['ada', 'grace']);
  const rules = desk.getByRole('region', { name: 'Rules', exact: true });
  await rules.getByRole('button', { name: 'Delete rule 2' }).focus();
  await desk.evaluate(() => (document.activeElement as HTMLElement).blur());
  const reply = await desk.request.delete('/admin/api/lease-rules/', { data: { id: 2 } });
  expect(reply.ok(), await reply.text()).toBe(true);
  await expect(rules.getByRole('listitem')).toHaveCount(1);
  await desk.evaluate(() => new Promise(requestAnimationFrame));
  await expect(desk.locator('body')).toBeFocused();
});

test('the list stays where it is while its button loads more', async ({ desk }) => {
  const key = await issueLicense(desk, { holder: 'Acme' });
  for (let at = 1; at <= 110; at += 1) {
    const data = { ref: key, holder: `Acme ${at}` };
    expect((await desk.request.put('/admin/api/licenses/', { data })).ok()).toBe(true);
  }
  await desk.goto('/#/licenses?open=1&tab=timeline');
  const record = desk.getByRole('complementary');
  const changes = record.getByRole('listitem');
  const more = record.getByRole('button', { name: 'Load more' });
  await more.click();
  await expect.poll(() => changes.count()).toBeGreaterThan(90);
  await expect(more).toBeFocused();
  // The first one that was loaded.
  await expect(changes.nth(50)).toBeInViewport();
});

test('a record whose code loads late leaves the focus where the user types', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  const { asked, release } = await holdRequests(desk, '**/assets/LicenseInspector-*.js');
  await desk.goto('/#/licenses');
  await desk.getByRole('row', { name: 'Acme' }).click();
  await asked;
  const search = desk.getByRole('searchbox');
  await desk.keyboard.type('/ac');
  await expect(search).toBeFocused();
  release();
  const record = desk.getByRole('complementary', { name: 'Acme' });
  await expect(record).toBeVisible();
  await desk.keyboard.type('me');
  await expect(search).toHaveValue('acme');

  // A record that is opened from the field gets the focus.
  await record.getByRole('button', { name: 'Close' }).click();
  await expect(record).toHaveCount(0);
  await search.focus();
  await desk.keyboard.press('Control+k');
  const palette = desk.getByRole('dialog', { name: 'Search' });
  await palette.getByRole('combobox').fill('Acme');
  await palette.getByRole('option', { name: 'Acme' }).click();
  await expect(record).toBeFocused();
});
