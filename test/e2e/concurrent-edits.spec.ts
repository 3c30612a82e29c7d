// A form changes the fields that its user changed. What others save while it is open stays.
import type { Page } from '@playwright/test';
import { chooseAction, expect, issueLicense, test } from './test.ts';

/** A change by another administrator, an integrator or the command line. */
async function changeElsewhere(page: Page, path: string, data: object): Promise<void> {
  const response = await page.request.put(`/admin/api/${path}/`, { data });
  expect(response.ok(), await response.text()).toBe(true);
}

async function create<Reply>(page: Page, path: string, data: object): Promise<Reply> {
  const response = await page.request.post(`/admin/api/${path}/`, { data });
  expect(response.ok(), await response.text()).toBe(true);
  return (await response.json()) as Reply;
}

async function fetchFirst(page: Page, path: string): Promise<unknown> {
  const response = await page.request.get(`/admin/api/${path}/`);
  return ((await response.json()) as { items: unknown[] }).items[0];
}

async function newPool(page: Page, holder: string): Promise<string> {
  await create(page, 'plans', { name: 'pool', licensing: 'floating', seats: 10 });
  return issueLicense(page, { holder, plan: 'pool' });
}

test.use({ serverFlags: ['--webhook-allow', '127.0.0.0/8'] });

const save = (page: Page) => page.getByRole('dialog').getByRole('button', { name: /^Save/u }).click();

test('an edit of a license and its undo keep what was saved meanwhile', async ({ desk }) => {
  const key = await newPool(desk, 'Acme');
  const before = { order_number: 'PO-1', custom_fields: { Region: 'North', Team: 'CAD' } };
  await changeElsewhere(desk, 'licenses', { ref: key, ...before });
  await desk.goto('/#/licenses?open=1');
  const inspector = desk.getByRole('complementary', { name: 'Acme' });
  await expect(inspector).toContainText('PO-1');
  await chooseAction(inspector, 'Edit');
  const dialog = desk.getByRole('dialog', { name: 'Edit license' });
  await expect(dialog.getByLabel('Order number')).toHaveValue('PO-1');
  const elsewhere = { notes: 'Paid in advance.', overdraft_seats: 2 };
  await changeElsewhere(desk, 'licenses', {
    ref: key,
    ...elsewhere,
    order_number: null,
    custom_fields: { 'Cost center': 'KST 815', Region: null },
  });
  await expect(inspector).toContainText('KST 815');

  await dialog.getByLabel('Email').fill('orders@acme.example');
  await dialog.getByLabel('Seats', { exact: true }).fill('12');
  await dialog.getByLabel('Value').nth(1).fill('FEM');
  await save(desk);
  const results = desk.getByRole('log', { name: 'Results' });
  // The pointer keeps the result on the page.
  await results.getByText('License of Acme saved', { exact: true }).hover();
  const kept = { notes: 'Paid in advance.', order_number: null, seat_limits: { overdraft_seats: 2 } };
  expect(await fetchFirst(desk, 'licenses')).toMatchObject({
    ...kept,
    email: 'orders@acme.example',
    seats: 12,
    custom_fields: { 'Cost center': 'KST 815', Team: 'FEM' },
  });
  await expect(inspector).toContainText('orders@acme.example');

  await results.getByRole('button', { name: 'Undo' }).click();
  await expect(inspector).not.toContainText('orders@acme.example');
  const undone = await fetchFirst(desk, 'licenses');
  expect(undone).toMatchObject({
    ...kept,
    email: null,
    seats: 10,
    seat_limits: { overridden: ['overdraft_seats'] },
  });
  expect(undone).toHaveProperty('custom_fields', { 'Cost center': 'KST 815', Team: 'CAD' });
});

test('Undo of an edit leaves a field that was changed since then', async ({ desk }) => {
  const key = await newPool(desk, 'Acme');
  await desk.goto('/#/licenses?open=1');
  const inspector = desk.getByRole('complementary', { name: 'Acme' });
  const results = desk.getByRole('log', { name: 'Results' });
  const dialog = desk.getByRole('dialog', { name: 'Edit license' });
  /** The pointer keeps the result on the page. */
  const hold = () => results.getByText('License of Acme saved', { exact: true }).hover();
  const undo = () => results.getByRole('button', { name: 'Undo' }).click();

  await chooseAction(inspector, 'Edit');
  await dialog.getByLabel('Order number').fill('PO-1');
  await dialog.getByLabel('Notes').fill('Ordered by phone.');
  await save(desk);
  await hold();
  await changeElsewhere(desk, 'licenses', { ref: key, email: 'orders@acme.example', notes: 'Paid.' });
  await undo();
  await expect(results).toContainText('Could not undo: Notes was changed meanwhile.');
  expect(await fetchFirst(desk, 'licenses')).toMatchObject({ order_number: 'PO-1', notes: 'Paid.' });

  await chooseAction(inspector, 'Edit');
  await dialog.getByRole('button', { name: 'Add field' }).click();
  await dialog.getByLabel('Name').fill('Team');
  await dialog.getByLabel('Value').fill('CAD');
  await dialog.getByLabel('Seats', { exact: true }).fill('14');
  await save(desk);
  await hold();
  await changeElsewhere(desk, 'licenses', { ref: key, seats: 20, custom_fields: { TEAM: 'FEM' } });
  await undo();
  await expect(results).toContainText('Could not undo: Seats and Team were changed meanwhile.');
  expect(await fetchFirst(desk, 'licenses')).toMatchObject({ seats: 20, custom_fields: { TEAM: 'FEM' } });
});

test(
  'Undo of saved settings leaves one that was changed since then',
  { tag: '@browser' },
  async ({ desk }) => {
    await desk.goto('/#/settings');
    const limit = desk.getByLabel('Rate limit: token checks');
    await limit.fill('70');
    await limit.press('Enter');
    const results = desk.getByRole('log', { name: 'Results' });
    // The pointer keeps the result on the page.
    await results.getByText('Setting saved', { exact: true }).hover();
    await changeElsewhere(desk, 'settings', { changes: { rate_limit: 80 } });
    await results.getByRole('button', { name: 'Undo' }).click();
    await expect(results).toContainText('Could not undo: Rate limit: token checks was changed meanwhile.');
    await desk.reload();
    await expect(limit).toHaveValue('80');
  },
);

test('an edit of a webhook keeps what was saved meanwhile', async ({ desk }) => {
  const { webhook } = await create<{ webhook: { id: number } }>(desk, 'webhooks/register', {
    url: 'https://127.0.0.1:1/erp',
    scope: 'all',
    description: 'ERP',
  });
  await desk.goto(`/#/webhooks?open=${webhook.id}`);
  const inspector = desk.getByRole('complementary');
  await chooseAction(inspector, 'Edit');
  const dialog = desk.getByRole('dialog', { name: 'Edit webhook' });
  await expect(dialog.getByLabel('Description')).toHaveValue('ERP');
  await changeElsewhere(desk, 'webhooks', { id: webhook.id, description: 'ERP of Acme' });
  await expect(inspector).toContainText('ERP of Acme');
  await dialog.getByLabel('Events').selectOption('license.revoked');
  await save(desk);
  await expect(dialog).toHaveCount(0);
  await expect(inspector).toContainText('license.revoked');
  await expect(inspector).toContainText('ERP of Acme');
});

test('an edit of a plan keeps what was saved meanwhile', async ({ desk }) => {
  await desk.goto('/#/plans');
  await desk.getByRole('button', { name: 'More actions for standard', exact: true }).click();
  await desk.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = desk.getByRole('dialog');
  await expect(dialog.getByLabel('Term (days)')).toHaveValue('365');
  await changeElsewhere(desk, 'plans', { name: 'standard', duration_days: 400, features: ['export'] });
  await dialog.getByLabel('Grace period (days)').fill('3');
  await dialog.getByLabel('Entitlements').fill('reports');
  await save(desk);
  await expect(dialog).toHaveCount(0);
  const response = await desk.request.get('/admin/api/plans/');
  const { plans } = (await response.json()) as { plans: { name: string }[] };
  expect(plans.find(({ name }) => name === 'standard')).toMatchObject({
    grace_days: 3,
    duration_days: 400,
    features: ['export', 'reports'],
  });
});

test('edits of a rule and of a group keep what was saved meanwhile', async ({ desk }) => {
  const license = await newPool(desk, 'Acme');
  await create(desk, 'lease-groups', { name: 'cad-team', members: ['ada', 'grace'] });
  await create(desk, 'lease-rules', { license, type: 'max', match: { group: 'cad-team' }, units: 2 });
  await desk.goto('/#/floating?view=rules');
  // The overview, which is left, may have a link of the same name.
  await expect(desk.getByRole('heading', { name: 'Floating licenses', level: 1 })).toBeVisible();
  await desk.getByRole('link', { name: 'Acme' }).click();
  const dialog = desk.getByRole('dialog');

  await desk.getByRole('button', { name: 'Edit rule 1' }).click();
  await expect(dialog.getByLabel('Seats')).toHaveValue('2');
  await changeElsewhere(desk, 'lease-rules', {
    id: 1,
    note: 'until May',
    match: { group: 'cad-team', host: 'build-1' },
  });
  await dialog.getByLabel('Seats').fill('3');
  await dialog.getByLabel('User').fill('ada');
  await dialog.getByLabel('Group').selectOption('No group');
  await save(desk);
  await expect(dialog).toHaveCount(0);
  const edited = await fetchFirst(desk, 'lease-rules');
  expect(edited).toMatchObject({ units: 3, note: 'until May' });
  expect(edited).toHaveProperty('match', { user: 'ada', host: 'build-1' });

  await desk.getByRole('button', { name: 'Edit group cad-team' }).click();
  await expect(dialog.getByLabel('Members', { exact: true })).toHaveValue('ada\ngrace');
  await changeElsewhere(desk, 'lease-groups', { id: 1, new_name: 'cad', add_members: ['joan'] });
  await dialog.getByLabel('Members', { exact: true }).fill('Ada\nlinus');
  await save(desk);
  await expect(dialog).toHaveCount(0);
  expect(await fetchFirst(desk, 'lease-groups')).toMatchObject({
    name: 'cad',
    members: ['joan', 'Ada', 'linus'],
  });
});

test('a group that is brought back has the members that were added meanwhile', async ({ desk }) => {
  await create(desk, 'lease-groups', { name: 'cad-team', members: ['ada'] });
  await desk.goto('/#/floating?view=rules');
  await desk.getByRole('button', { name: 'Delete group cad-team' }).click();
  await changeElsewhere(desk, 'lease-groups', { id: 1, add_members: ['grace'] });
  await desk.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await desk.getByRole('button', { name: 'Undo' }).click();
  await expect(desk.getByRole('log', { name: 'Results' })).toContainText('Undone');
  expect(await fetchFirst(desk, 'lease-groups')).toMatchObject({ members: ['ada', 'grace'] });
});

test('an upgrade does not move on to a higher plan when the license is upgraded meanwhile', async ({
  desk,
}) => {
  const ref = await issueLicense(desk, { holder: 'Acme', plan: 'standard' });
  await desk.goto('/#/licenses?open=1');
  const inspector = desk.getByRole('complementary', { name: 'Acme' });
  await chooseAction(inspector, 'Upgrade');
  const dialog = desk.getByRole('dialog', { name: 'Upgrade the license of Acme' });
  const plan = dialog.getByLabel('New plan');
  const upgrade = dialog.getByRole('button', { name: 'Upgrade' });
  await expect(plan).toHaveValue('professional');
  await create(desk, 'licenses/upgrade', { ref, plan: 'professional' });
  await expect(dialog.getByRole('alert')).toHaveText(
    'professional can no longer be chosen. The plan of the license is professional. Choose another plan.',
  );
  await expect(plan).toHaveValue('');
  await expect(upgrade).toBeDisabled();
  await expect(dialog.getByLabel('Preview')).toHaveCount(0);

  await plan.selectOption('enterprise');
  await expect(dialog.getByRole('alert')).toHaveCount(0);
  await expect(dialog.getByLabel('Preview')).toContainText(/professional\s*New value\s*enterprise/u);
  await upgrade.click();
  await expect(dialog).toHaveCount(0);
  expect(await fetchFirst(desk, 'licenses')).toMatchObject({ plan: 'enterprise' });
});

test('a new license keeps the plan that was shown when plans are restored or archived meanwhile', async ({
  desk,
}) => {
  await changeElsewhere(desk, 'plans', { name: 'standard', archived: true });
  await desk.goto('/#/licenses');
  await desk.getByRole('button', { name: 'New license' }).click();
  const dialog = desk.getByRole('dialog', { name: 'New license' });
  const plan = dialog.getByLabel('Plan');
  await dialog.getByLabel('Holder').fill('Acme');
  await expect(plan).toHaveValue('trial');
  await changeElsewhere(desk, 'plans', { name: 'standard', archived: false });
  await expect(plan.locator('option[value="standard"]')).toHaveCount(1);
  await expect(plan).toHaveValue('trial');

  await changeElsewhere(desk, 'plans', { name: 'trial', archived: true });
  await expect(dialog.getByRole('alert')).toHaveText('trial can no longer be chosen. Choose another plan.');
  await expect(plan).toHaveValue('');
  const issue = dialog.getByRole('button', { name: 'Issue license' });
  await issue.click();
  await expect(plan).toBeFocused();
  await expect(plan).toHaveAttribute('aria-invalid', 'true');
  await plan.selectOption('enterprise');
  await expect(dialog.getByRole('alert')).toHaveCount(0);
  await issue.click();
  await expect(desk.getByRole('dialog', { name: 'License issued' })).toBeVisible();
  expect(await fetchFirst(desk, 'licenses')).toMatchObject({ holder: 'Acme', plan: 'enterprise' });
});
