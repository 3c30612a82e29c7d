import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { holdReply } from './held-reply.ts';
import type { TestServer } from './server.ts';
import { chooseAction, expect, issueLicense, test } from './test.ts';

interface Client {
  user?: string;
  host?: string;
  machine_fingerprint?: string;
  units?: number;
  wait_seconds?: number;
}

interface Lease {
  lease_id: number;
}

/** A plan of floating licenses; gives back its name. */
async function newPoolPlan(
  page: Page,
  terms: { seats: number; tier?: number; count_by?: 'device'; lease_seconds?: number },
): Promise<string> {
  const name = `pool-${randomBytes(4).toString('hex')}`;
  const made = await page.request.post('/admin/api/plans/', {
    data: { name, licensing: 'floating', ...terms },
  });
  expect(made.ok(), await made.text()).toBe(true);
  return name;
}

/** A license with a plan of floating licenses; gives back its key. */
async function newPool(page: Page, { holder, seats }: { holder: string; seats: number }): Promise<string> {
  return issueLicense(page, { holder, plan: await newPoolPlan(page, { seats }) });
}

/** A checkout as client software makes it. */
async function checkOut(page: Page, server: TestServer, key: string, client: Client = {}) {
  const response = await page.request.post(`${server.api}leases/checkout/`, {
    data: { license_key: key, instance_id: randomBytes(16).toString('hex'), ...client },
  });
  const reply = (await response.json()) as { lease_token: string; lease: Lease };
  return { status: response.status(), ...reply };
}

async function heartbeat(page: Page, server: TestServer, token: string): Promise<number> {
  const response = await page.request.post(`${server.api}leases/heartbeat/`, {
    data: { lease_token: token },
  });
  return response.status();
}

async function chooseLicense(page: Page, view: 'rules' | 'usage', holder: string): Promise<void> {
  await page.goto(`/#/floating?view=${view}`);
  // The page that is left may have a link of the same name.
  await expect(page.getByRole('heading', { name: 'Floating licenses', level: 1 })).toBeVisible();
  await page.getByRole('link', { name: holder }).click();
}

const inspector = (page: Page) => page.getByRole('complementary');
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

test('a pool shows its seats live, who holds them, and a seat is reclaimed', async ({ desk, server }) => {
  const key = await newPool(desk, { holder: 'Fjord Instruments AS', seats: 3 });
  const other = await newPool(desk, { holder: 'Acme Motors', seats: 3 });
  await desk.goto('/#/floating');
  await expect(row(desk, 'Fjord Instruments AS')).toContainText('0/3');

  const ada = await checkOut(desk, server, key, { user: 'ada', host: 'workstation-7' });
  await checkOut(desk, server, key, { user: 'grace', units: 2 });
  await expect(row(desk, 'Fjord Instruments AS')).toContainText('3/3');
  await expect(row(desk, 'Fjord Instruments AS')).toContainText('Full');
  // The fullest first.
  await expect(desk.getByRole('row').nth(1)).toContainText('Fjord Instruments AS');
  await expectAccessible(desk);

  await desk.getByRole('button', { name: '90% and more' }).click();
  await expect(row(desk, 'Acme Motors')).toHaveCount(0);
  await desk.getByRole('button', { name: 'All', exact: true }).click();
  await desk.getByRole('searchbox', { name: 'Search' }).fill('acme');
  await expect(row(desk, 'Fjord Instruments AS')).toHaveCount(0);
  await desk.getByRole('searchbox', { name: 'Search' }).fill('');

  await row(desk, 'Fjord Instruments AS').click();
  await expect(inspector(desk).getByRole('region', { name: 'Seats' })).toContainText('Checked out3');
  await expect(inspector(desk)).toContainText('workstation-7');
  await expectAccessible(desk);
  await checkOut(desk, server, key, { user: 'joan', wait_seconds: 600 });
  await expect(inspector(desk).getByRole('region', { name: 'Waiting clients' })).toContainText('joan');

  await inspector(desk).getByRole('button', { name: 'Reclaim the seat of ada' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Reclaim', exact: true }).click();
  await expect(dialog).toContainText('This field is required.');
  await dialog.getByLabel('Reason').fill('left for the day');
  await dialog.getByRole('button', { name: 'Reclaim', exact: true }).click();
  await expect(desk.getByText('Reclaimed the seat of ada.')).toBeVisible();
  await expect(inspector(desk).getByRole('button', { name: 'Reclaim the seat of ada' })).toHaveCount(0);
  expect(await heartbeat(desk, server, ada.lease_token)).toBe(410);

  await desk.goto('/#/licenses');
  const licenses = desk.getByRole('grid', { name: 'Licenses', exact: true }).getByRole('row');
  const pool = licenses.filter({ hasText: 'Acme Motors' });
  await expect(pool).toContainText('0/3');
  const shown = await pool.elementHandle();
  await checkOut(desk, server, other, { units: 2 });
  await expect(pool).toContainText('2/3');
  expect(await shown?.evaluate((element) => element.isConnected), 'rows stay while they refresh').toBe(true);
});

test('a pool does not call its seats free while their leases are not loaded', async ({ desk, server }) => {
  const key = await newPool(desk, { holder: 'Fjord Instruments AS', seats: 1 });
  await checkOut(desk, server, key, { user: 'ada' });
  // As if clients that wait, which are newer, filled the first page.
  await desk.route('**/admin/api/leases/?*', async (route) => {
    const url = new URL(route.request().url());
    const isSecond = url.searchParams.has('cursor');
    url.searchParams.delete('cursor');
    const response = await route.fetch({ url: url.href });
    const reply = (await response.json()) as object;
    await route.fulfill({
      response,
      json: isSecond ? reply : { ...reply, items: [], next_cursor: 'second' },
    });
  });
  await desk.goto('/#/floating');
  await row(desk, 'Fjord Instruments AS').click();
  await expect(inspector(desk).getByRole('button', { name: 'Load more' })).toBeVisible();
  await expect(inspector(desk).getByText('No seats are taken.')).toHaveCount(0);
  await inspector(desk).getByRole('button', { name: 'Load more' }).click();
  await expect(inspector(desk).getByRole('button', { name: 'Reclaim the seat of ada' })).toBeVisible();
});

test('leases are filtered by user and state, and an ended one says why', async ({ desk, server }) => {
  const key = await newPool(desk, { holder: 'Acme', seats: 5 });
  const { lease } = await checkOut(desk, server, key, { user: 'ada', host: 'build-1' });
  await checkOut(desk, server, key, { user: 'grace' });
  await desk.request.post('/admin/api/leases/reclaim/', {
    data: { lease_id: lease.lease_id, reason: 'maintenance' },
  });
  await desk.goto('/#/floating?view=leases');
  await expect(row(desk, 'grace')).toBeVisible();
  await expect(row(desk, 'ada')).toHaveCount(0);
  await desk.getByLabel('State', { exact: true }).selectOption('all');
  await desk.getByRole('searchbox', { name: 'User' }).fill('ADA');
  await desk.getByRole('searchbox', { name: 'User' }).press('Enter');
  await expect(row(desk, 'grace')).toHaveCount(0);
  await row(desk, 'ada').click();
  await expect(inspector(desk)).toContainText('An administrator reclaimed the seat.');
  await expect(inspector(desk)).toContainText('maintenance');
  await expect(inspector(desk).getByRole('button', { name: 'Reclaim' })).toHaveCount(0);
  await expectAccessible(desk);
  await desk.reload();
  await expect(inspector(desk)).toContainText('build-1');
});

test('a denial appears by itself, is explained, and leads to its remedy', async ({ desk, server }) => {
  const key = await newPool(desk, { holder: 'Acme', seats: 1 });
  await desk.goto('/#/floating?view=denials');
  await expect(desk.getByText('Denied checkouts appear here within a second.')).toBeVisible();
  await checkOut(desk, server, key, { user: 'ada' });
  expect((await checkOut(desk, server, key, { user: 'grace' })).status).toBe(409);
  await row(desk, 'grace').click();
  await expect(inspector(desk)).toContainText('The only seat was taken.');
  await expect(inspector(desk).getByRole('region', { name: 'Leases at that moment' })).toContainText('ada');
  await expectAccessible(desk);

  await inspector(desk).getByRole('link', { name: 'Add seats' }).click();
  const dialog = desk.getByRole('dialog', { name: 'Edit license' });
  await dialog.getByLabel('Seats', { exact: true }).fill('2');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(desk.getByText('License of Acme saved')).toBeVisible();
  expect((await checkOut(desk, server, key, { user: 'grace' })).status).toBe(200);
  await expect(inspector(desk)).toContainText('2/2');
});

test('a denial leads to what its client would get now', async ({ desk, server }) => {
  const plan = await newPoolPlan(desk, { seats: 5, count_by: 'device' });
  const key = await issueLicense(desk, { holder: 'Acme', plan });
  const device = (digit: string) => `sha256:${digit.repeat(64)}`;
  await checkOut(desk, server, key, { user: 'ada', machine_fingerprint: device('1') });
  const grace = { user: 'grace', machine_fingerprint: device('2'), units: 5 };
  expect((await checkOut(desk, server, key, grace)).status).toBe(409);
  await desk.goto('/#/floating?view=denials');
  await row(desk, 'grace').click();
  await inspector(desk).getByRole('link', { name: 'Check what the client gets now' }).click();
  const trial = desk.getByRole('region', { name: 'Try the rules' });
  await expect(trial.getByLabel('Seats', { exact: true })).toHaveValue('5');
  await expect(trial.getByLabel('Device fingerprint')).toHaveValue(device('2'));
  await expect(trial).toContainText('Gets no seat');
  await trial.getByLabel('Seats', { exact: true }).fill('4');
  await trial.getByRole('button', { name: 'Try' }).click();
  await expect(trial).toContainText('Gets a seat');
});

test('a rule is made, tried, moved and deleted', async ({ desk, server }) => {
  const key = await newPool(desk, { holder: 'Acme', seats: 2 });
  await chooseLicense(desk, 'rules', 'Acme');
  const rules = desk.getByRole('region', { name: 'Rules', exact: true });
  await expect(rules).toContainText('No rules.');

  await desk.getByRole('button', { name: 'Create group' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('Name').fill('cad-team');
  await dialog.getByLabel('Members', { exact: true }).fill('ada\ngrace\n');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(desk.getByRole('region', { name: 'Groups' })).toContainText('2 members');

  await desk.getByRole('button', { name: 'Add rule' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toContainText('A reservation needs a user, a host, a group or an address.');
  await dialog.getByLabel('Group').selectOption('cad-team');
  await dialog.getByLabel('Seats').fill('2');
  await expectAccessible(desk);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(rules.getByRole('listitem')).toContainText(['Group cad-team']);
  await desk.getByRole('button', { name: 'Add rule' }).click();
  await dialog.getByRole('radio', { name: 'Deny' }).check();
  await dialog.getByLabel('User').fill('guest');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(rules.getByRole('listitem')).toContainText(['Group cad-team', 'User guest']);

  const trial = desk.getByRole('region', { name: 'Try the rules' });
  const attempt = async (user: string) => {
    await trial.getByLabel('User').fill(user);
    await trial.getByRole('button', { name: 'Try' }).click();
  };
  await attempt('linus');
  await expect(trial).toContainText('Gets no seat');
  await expect(trial).toContainText('Decided by rule 1');
  await attempt('ada');
  await expect(trial).toContainText('Gets a seat');
  await attempt('guest');
  await expect(trial).toContainText('Decided by rule 2');
  await expectAccessible(desk);
  expect((await checkOut(desk, server, key, { user: 'linus' })).status).toBe(409);

  await rules.getByRole('button', { name: 'Move rule 2 up' }).click();
  await expect(rules.getByRole('listitem')).toContainText(['User guest', 'Group cad-team']);
  await expect(rules.getByRole('button', { name: 'Move rule 1 down' })).toBeFocused();
  await rules.getByRole('button', { name: 'Delete rule 2' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(rules.getByRole('listitem')).toHaveCount(1);
  // An open question is answered anew.
  await attempt('linus');
  await expect(trial).toContainText('Gets a seat');
});

test('rules are tried for the device that seats are counted by', async ({ desk }) => {
  const plan = await newPoolPlan(desk, { seats: 1, count_by: 'device' });
  await issueLicense(desk, { holder: 'Acme', plan });
  await chooseLicense(desk, 'rules', 'Acme');
  const trial = desk.getByRole('region', { name: 'Try the rules' });
  await trial.getByRole('button', { name: 'Try' }).click();
  await expect(trial).toContainText('because the plan counts seats by device');
  await trial.getByLabel('Device fingerprint').fill(`sha256:${'0'.repeat(64)}`);
  await trial.getByRole('button', { name: 'Try' }).click();
  await expect(trial).toContainText('Gets a seat');
});

const manyMembers = Array.from(
  { length: 700 },
  (_, at) => `${`engineer-${at}`.padEnd(160, 'x')}@hafen.example`,
);

/** Lets the first change of a group through, and cuts the connection upon the second one. */
async function cutSecondChange(page: Page): Promise<void> {
  let changes = 0;
  await page.route('**/admin/api/lease-groups/', async (route) => {
    if (!['POST', 'PUT'].includes(route.request().method())) return route.continue();
    changes += 1;
    return changes === 2 ? route.abort() : route.continue();
  });
}

/** Also says that the group has all of them, in their order. */
async function deleteLargeGroup(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Edit group all' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Members', { exact: true })).toHaveValue(manyMembers.join('\n'));
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Delete group all' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('region', { name: 'Groups' }).getByRole('listitem')).toHaveCount(0);
}

test('a group may be too large for one request when it is created, and when its removal is undone', async ({
  desk,
}) => {
  await desk.goto('/#/floating?view=rules');
  const groups = desk.getByRole('region', { name: 'Groups' });
  await groups.getByRole('button', { name: 'Create group' }).click();
  const dialog = desk.getByRole('dialog', { name: 'Create group' });
  await dialog.getByLabel('Name').fill('all');
  const members = dialog.getByLabel('Members', { exact: true });
  await expect(members).toHaveAccessibleDescription(/2,000 at most/u);
  await members.fill(manyMembers.join('\n'));
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(groups).toContainText('700 members');
  await expect(dialog).toHaveCount(0);
  await deleteLargeGroup(desk);
  await desk.getByRole('button', { name: 'Undo' }).click();
  await expect(groups).toContainText('700 members');
  await deleteLargeGroup(desk);
});

test('a large group that is created in part says so, and is completed', async ({ desk }) => {
  await desk.goto('/#/floating?view=rules');
  const groups = desk.getByRole('region', { name: 'Groups' });
  await groups.getByRole('button', { name: 'Create group' }).click();
  await cutSecondChange(desk);
  await desk.getByRole('dialog').getByLabel('Name').fill('all');
  await desk.getByRole('dialog').getByLabel('Members', { exact: true }).fill(manyMembers.join('\n'));
  await desk.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  const dialog = desk.getByRole('dialog', { name: 'Edit group all' });
  const said = dialog.getByRole('alert');
  await expect(said).toContainText(
    /The group all has been saved with \d{3} members so far\. Save again to complete it\./u,
  );
  await expect(said).toContainText('The server did not respond.');
  await expectAccessible(desk);
  const [, saved = ''] = /with (\d+) members/u.exec(await said.innerText()) ?? [];
  await expect(groups.getByRole('listitem')).toContainText(`${saved} members`);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(groups).toContainText('700 members');
  await deleteLargeGroup(desk);
});

test('a group whose creation got no reply may have been created', async ({ desk }) => {
  await desk.route('**/admin/api/lease-groups/', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch();
    await route.abort();
  });
  await desk.goto('/#/floating?view=rules');
  await desk.getByRole('button', { name: 'Create group' }).click();
  const dialog = desk.getByRole('dialog', { name: 'Create group' });
  await dialog.getByLabel('Name').fill('cad-team');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByRole('alert')).toContainText('If it is in the list, edit it there.');
});

test('an undo that brings back a part of a large group says so', async ({ desk }) => {
  for (const [method, members] of [
    ['post', { members: manyMembers.slice(0, 350) }],
    ['put', { add_members: manyMembers.slice(350) }],
  ] as const) {
    const reply = await desk.request[method]('/admin/api/lease-groups/', {
      data: { name: 'all', ...members },
    });
    expect(reply.ok(), await reply.text()).toBe(true);
  }
  await desk.goto('/#/floating?view=rules');
  await deleteLargeGroup(desk);
  await cutSecondChange(desk);
  await desk.getByRole('button', { name: 'Undo' }).click();
  await expect(desk.getByRole('log', { name: 'Results' })).toContainText(
    /Could not undo: Only \d{3} of the 700 members of the group all have been restored\. The audit log lists all of them\./u,
  );
  const audit = await desk.request.get('/admin/api/audit/?action=lease_group.deleted');
  expect(await audit.text()).toContain(manyMembers.at(-1));
});

test('an options file is checked before it is imported', async ({ desk }) => {
  await newPool(desk, { holder: 'Acme', seats: 4 });
  await chooseLicense(desk, 'rules', 'Acme');
  await desk.getByRole('button', { name: 'Import options file' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog
    .getByLabel('Options file', { exact: true })
    .fill('GROUP designers ada grace\nRESERVE 2 viewer GROUP designers\nNOLOG QUEUED\n');
  await dialog.getByRole('button', { name: 'Check file' }).click();
  const report = dialog.getByRole('region', { name: 'What the import does' });
  await expect(report).toContainText('1 new rule');
  await expect(report).toContainText('Group designers is created');
  await expect(report.getByRole('row').nth(2)).toContainText('Ignored');
  await expectAccessible(desk);
  const rules = desk.getByRole('region', { name: 'Rules', exact: true });
  await expect(rules).toContainText('No rules.');

  await dialog.getByLabel('Replace the rules of the license').check();
  await expect(dialog.getByRole('button', { name: 'Import', exact: true })).toHaveCount(0);
  await dialog.getByRole('button', { name: 'Check file' }).click();
  await expect(dialog.getByRole('button', { name: 'Import', exact: true })).toBeEnabled();
  // The error of an import goes with the next check.
  await desk.route('**/lease-rules/import/', (route) => route.abort(), { times: 1 });
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await expect(dialog.getByRole('alert')).toBeVisible();
  await dialog.getByRole('button', { name: 'Check file' }).click();
  await expect(dialog.getByRole('alert')).toHaveCount(0);
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await expect(rules.getByRole('listitem')).toContainText(['Group designers']);
  await expect(desk.getByRole('region', { name: 'Groups' })).toContainText('designers');
});

test('which line of an options file exceeds a limit is said in German', async ({ desk }) => {
  await newPool(desk, { holder: 'Acme', seats: 4 });
  await chooseLicense(desk, 'rules', 'Acme');
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.getByRole('button', { name: 'Optionsdatei importieren' }).click();
  const dialog = desk.getByRole('dialog');
  const file = dialog.getByLabel('Optionsdatei', { exact: true });
  await file.fill(Array.from({ length: 201 }, (_, at) => `EXCLUDE viewer USER u${at}`).join('\n'));
  await dialog.getByRole('button', { name: 'Datei prüfen' }).click();
  const refused = dialog.getByRole('alert');
  await expect(refused.getByRole('listitem')).toHaveText(
    'Optionsdatei: Zeile 201: Eine Lizenz kann höchstens 200 Regeln haben.',
  );
  await expect(refused.locator('[lang="en"]')).toHaveCount(0);
  await expect(file).toHaveAccessibleDescription(/Zeile 201/u);
});

test('what becomes of each line of an options file is said in German', async ({ desk }) => {
  await newPool(desk, { holder: 'Acme', seats: 4 });
  await chooseLicense(desk, 'rules', 'Acme');
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.getByRole('button', { name: 'Optionsdatei importieren' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog
    .getByLabel('Optionsdatei', { exact: true })
    .fill(
      [
        'GROUP designers ada grace',
        'RESERVE 2 viewer GROUP designers',
        'EXCLUDE viewer USER eve',
        'MAX many viewer USER ada',
        'INCLUDE viewer',
        'NOLOG QUEUED',
      ].join('\n'),
    );
  await dialog.getByRole('button', { name: 'Datei prüfen' }).click();
  const report = dialog.getByRole('region', { name: 'Was der Import bewirkt' });
  await expect(report.getByRole('row')).toContainText([
    'Gruppe designers (Benutzer).',
    'Regel: Reservieren, 2 Plätze, Gruppe designers.',
    'Regel: Ablehnen, Benutzer eve.',
    'many ist keine Zahl.',
    'Es fehlt: Art, etwa USER.',
    'Betrifft Protokolle, die License Desk selbst führt.',
  ]);
  await expect(report).toContainText('Zeile 5 wird nicht importiert und schließt daher niemanden aus.');
  await expect(report.locator('[lang="en"]')).toHaveCount(0);
});

test('usage shows the seats that were needed', { tag: '@browser' }, async ({ desk, server }) => {
  const key = await newPool(desk, { holder: 'Acme', seats: 1 });
  await checkOut(desk, server, key, { user: 'ada' });
  await checkOut(desk, server, key, { user: 'grace' });
  await chooseLicense(desk, 'usage', 'Acme');
  const figures = desk.getByRole('region', { name: 'Figures for the period' });
  await expect(figures).toContainText('Denied1');
  await expect(figures).toContainText('The license has 1, so 1 more is needed.');
  const seats = desk.getByRole('region', { name: 'Seats in use' });
  await expect(seats.getByRole('img')).toHaveAttribute('aria-label', /Peak: 1 on /u);
  await expectAccessible(desk);

  const download = desk.waitForEvent('download');
  await seats.getByRole('button', { name: 'Download CSV' }).click();
  const csv = readFileSync(await (await download).path(), 'utf8');
  expect(csv).toMatch(/^\ufeffhour,peak,average,needed,seats\r\n/u);
  expect(csv).toMatch(/,1,[\d.]+,2,1\r\n/u);
  await desk.getByLabel('Language').selectOption('Deutsch');
  const german = desk.waitForEvent('download');
  await desk
    .getByRole('region', { name: 'Belegte Plätze' })
    .getByRole('button', { name: 'CSV herunterladen' })
    .click();
  const germanCsv = readFileSync(await (await german).path(), 'utf8');
  expect(germanCsv).toMatch(/^\ufeffhour;peak;average;needed;seats\r\n/u);
  expect(germanCsv).toMatch(/;1;\d+(?:,\d+)?;2;1\r\n/u);
  await desk.getByLabel('Sprache').selectOption('English');
  const picture = desk.waitForEvent('download');
  await seats.getByRole('button', { name: 'Download picture' }).click();
  expect(
    readFileSync(await (await picture).path())
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG');

  await desk.getByRole('button', { name: '30 days' }).click();
  await seats.getByRole('button', { name: 'Show as table' }).click();
  await expect(seats.getByRole('row')).toHaveCount(31);
  await desk.reload();
  await expect(seats.getByRole('row')).toHaveCount(31);
});

test('usage shows no figures of another license or period as its own', async ({ desk, server }) => {
  const taken = await newPool(desk, { holder: 'Alpha lab', seats: 5 });
  await checkOut(desk, server, taken, { user: 'ada', units: 3 });
  await newPool(desk, { holder: 'Beta lab', seats: 5 });
  await chooseLicense(desk, 'usage', 'Alpha lab');
  const figures = desk.getByRole('region', { name: 'Figures for the period' });
  await expect(figures).toContainText('Peak3');
  const held = await holdReply(desk, 'leases/usage/', 'GET');

  await desk.getByRole('button', { name: '30 days' }).click();
  await held.asked;
  await expect(figures).toContainText('Peak3');
  await expect(figures).toHaveAttribute('aria-busy', 'true');

  await desk.getByRole('button', { name: 'Remove license filter' }).click();
  await desk.getByRole('link', { name: 'Beta lab' }).click();
  await expect(desk.getByText('Loading…')).toBeVisible();
  await expect(figures).toHaveCount(0);
  held.release();
  await expect(figures).toContainText('Peak0');
  await expect(figures).not.toHaveAttribute('aria-busy', 'true');
});

test('a plan for floating licenses is made, and a license of it issued', async ({ desk, server }) => {
  await desk.goto('/#/plans');
  await desk.getByRole('button', { name: 'New plan' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('viewer-pool');
  await dialog.getByRole('radio', { name: 'Floating' }).check();
  await dialog.getByLabel('Seats', { exact: true }).fill('10');
  await dialog.getByLabel('Maximum borrowing time (hours)').fill('24');
  await dialog.getByLabel('Seats never borrowed').fill('2');
  await expectAccessible(desk);
  await dialog.getByRole('button', { name: 'Create plan' }).click();
  const plans = desk.getByRole('table', { name: 'Plan comparison' });
  await expect(plans.getByRole('row', { name: 'Licensing' })).toContainText('Floating');
  await expect(plans.getByRole('row', { name: 'Borrowing' })).toContainText('Up to 24 hours');

  await desk.goto('/#/licenses?new=1');
  await dialog.getByLabel('Holder').fill('Acme');
  await dialog.getByLabel('Plan').selectOption({ label: 'viewer-pool: 365 days, 10 floating seats' });
  await dialog.getByLabel('Seats', { exact: true }).fill('12');
  await dialog.getByRole('button', { name: 'Issue license' }).click();
  await expect(dialog).toContainText('12 floating seats');
  await expect(dialog.getByRole('tab', { name: 'License file' })).toHaveCount(0);
  await dialog.getByRole('button', { name: 'Done' }).click();

  await expect(row(desk, 'Acme')).toContainText('0/12');
  await row(desk, 'Acme').click();
  await expect(inspector(desk)).toContainText('12 (instead of the plan)');
  await expect(inspector(desk).getByRole('tab', { name: 'Devices' })).toHaveCount(0);
  await inspector(desk).getByRole('tab', { name: 'Seats' }).click();
  await expect(inspector(desk)).toContainText('No seats are taken.');
  const found = await desk.request.get('/admin/api/licenses/?search=Acme');
  const { items } = (await found.json()) as { items: { license_key: string }[] };
  await checkOut(desk, server, items[0]?.license_key ?? '', { user: 'ada' });
  await expect(inspector(desk).getByRole('region', { name: 'Leases' })).toContainText('ada');
  await expectAccessible(desk);

  await inspector(desk).getByRole('tab', { name: 'Diagnostics' }).click();
  const checkout = inspector(desk).getByRole('region', { name: 'Checkout' });
  await checkout.getByLabel('User').pressSequentially('Grace Hopper');
  await expect(checkout.getByLabel('User')).toHaveValue('Grace Hopper');
  await checkout.getByRole('button', { name: 'Check' }).click();
  await expect(checkout.getByRole('status')).toHaveText('Gets a seat');
  await checkout.getByLabel('Seats').fill('12');
  // An answer to another question is not shown.
  await expect(checkout.getByRole('status')).toHaveCount(0);
  await checkout.getByRole('button', { name: 'Check' }).click();
  await expect(checkout.getByRole('status')).toContainText('Gets no seat');
  await expect(checkout.getByRole('listitem').filter({ hasText: 'A seat is free' })).toContainText('Failed');
  await expectAccessible(desk);
  await checkout.getByRole('button', { name: 'Show seats' }).click();
  await expect(inspector(desk).getByRole('tab', { name: 'Seats' })).toHaveAttribute('aria-selected', 'true');
});

test('the lease length is shown exactly', async ({ desk }) => {
  await newPoolPlan(desk, { seats: 1, tier: 1, lease_seconds: 90 });
  await newPoolPlan(desk, { seats: 1, tier: 2, lease_seconds: 3600 });
  const plan = await newPoolPlan(desk, { seats: 1, tier: 3, lease_seconds: 5400 });
  await desk.goto('/#/plans');
  const lengths = desk
    .getByRole('row')
    .filter({ has: desk.getByRole('rowheader', { name: 'Lease', exact: true }) })
    .getByRole('cell');
  await expect(lengths.filter({ hasNotText: '–' })).toHaveText(['90 seconds', '1 hour', '90 minutes']);

  await issueLicense(desk, { holder: 'Acme', plan });
  await desk.goto('/#/licenses?open=1');
  await expect(inspector(desk).getByText('Lease', { exact: true }).locator('..')).toContainText('90 minutes');
});

test('an upgrade shows the floating seats before and after', async ({ desk }) => {
  const key = await newPool(desk, { holder: 'Acme', seats: 10 });
  const larger = await newPoolPlan(desk, { seats: 50, tier: 5 });
  await desk.goto('/#/licenses?open=1');
  await chooseAction(inspector(desk), 'Upgrade');
  const dialog = desk.getByRole('dialog', { name: 'Upgrade the license of Acme' });
  await dialog.getByLabel('New plan').selectOption(larger);
  const preview = dialog.getByLabel('Preview');
  await expect(preview).toContainText(/Seats\s*10\s*New value\s*50/u);
  await expectAccessible(desk);
  // The seats of a plan for devices.
  await dialog.getByLabel('New plan').selectOption('professional');
  await expect(preview).toContainText(/Seats\s*10\s*New value\s*5$/u);

  // Seats that the license has instead of its plan's stay.
  await desk.request.put('/admin/api/licenses/', { data: { ref: key, seats: 12 } });
  await expect(preview).toContainText(/Seats\s*12\s*New value\s*5$/u);
  await dialog.getByLabel('New plan').selectOption(larger);
  await expect(preview).toContainText(larger);
  await expect(preview).not.toContainText('Seats');
  await dialog.getByRole('button', { name: 'Upgrade' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(inspector(desk)).toContainText('12 (instead of the plan)');
});

test('a revocation tells which seats and devices it affects', async ({ desk, server }) => {
  const key = await newPool(desk, { holder: 'Acme', seats: 2 });
  await checkOut(desk, server, key);
  const dialog = desk.getByRole('dialog');
  await desk.goto('/#/licenses?open=1');
  await chooseAction(inspector(desk), 'Revoke');
  await expect(dialog).toContainText(
    'The license stops working immediately. 1 seat is in use. Leases end at the next heartbeat.',
  );
  await desk.keyboard.press('Escape');

  const fixed = await issueLicense(desk, { holder: 'Bolt' });
  const device = { license_key: fixed, machine_fingerprint: `sha256:${'0'.repeat(64)}` };
  expect((await desk.request.post(`${server.api}activate/`, { data: device })).ok()).toBe(true);
  await desk.goto('/#/licenses');
  const revoke = desk
    .getByRole('group', { name: 'Selected licenses' })
    .getByRole('button', { name: 'Revoke' });
  await expect(row(desk, 'Bolt')).toContainText('1/1');
  await desk.getByRole('checkbox', { name: 'Select Bolt' }).check();
  await revoke.click();
  await expect(dialog).toContainText(
    '1 license stops working immediately. 1 active device is affected. This cannot be undone.',
  );
  await desk.keyboard.press('Escape');
  await desk.getByRole('checkbox', { name: 'Select Acme' }).check();
  await checkOut(desk, server, key);
  await expect(row(desk, 'Acme')).toContainText('2/2');
  await revoke.click();
  await expect(dialog).toContainText(
    '2 licenses stop working immediately. 1 active device is affected. 2 floating seats are in use. Leases end at the next heartbeat. This cannot be undone.',
  );
});

test('an upgrade between devices and leases says who loses access', async ({ desk, server }) => {
  const key = await issueLicense(desk, { holder: 'Acme', plan: 'standard' });
  const machine_fingerprint = `sha256:${'a'.repeat(64)}`;
  await desk.request.post(`${server.api}activate/`, { data: { license_key: key, machine_fingerprint } });
  const pool = await newPoolPlan(desk, { seats: 5, tier: 15 });
  await desk.goto('/#/licenses?open=1');
  const dialog = desk.getByRole('dialog', { name: 'Upgrade the license of Acme' });
  const lost = '1 active device loses its access';

  await chooseAction(inspector(desk), 'Upgrade');
  await dialog.getByLabel('New plan').selectOption('professional');
  await expect(dialog).not.toContainText(lost);
  await dialog.getByLabel('New plan').selectOption(pool);
  await expect(dialog.getByLabel('Preview')).toContainText(/Licensing\s*Node-locked\s*New value\s*Floating/u);
  await expect(dialog).toContainText(lost);
  await expectAccessible(desk);
  await dialog.getByRole('button', { name: 'Upgrade' }).click();
  await expect(dialog).toHaveCount(0);

  const device = { license_key: key, machine_fingerprint };
  await desk.request.post(`${server.api}authorize/`, { data: device });
  await inspector(desk).getByRole('tab', { name: 'Diagnostics' }).click();
  const result = inspector(desk).getByRole('region', { name: 'Result' });
  await expect(result).toContainText('Denied');
  await expect(result).toContainText('Its seats are taken by leases');
  await expect(inspector(desk).getByRole('button', { name: 'Activate this device' })).toHaveCount(0);
  await expectAccessible(desk);

  await chooseAction(inspector(desk), 'Upgrade');
  await dialog.getByLabel('New plan').selectOption('enterprise');
  await expect(dialog).toContainText('Leases end at their next heartbeat.');
  await expect(dialog).toContainText('except 1 device');
});

test('the overview names a floating license that is almost full', async ({ desk, server }) => {
  const key = await newPool(desk, { holder: 'Acme', seats: 1 });
  await desk.goto('/#/overview');
  await checkOut(desk, server, key);
  await expect(desk.getByText('1 floating license has at least 90% of its seats in use')).toBeVisible();
  await expect(desk.getByText('Acme: 1 of 1 seat.', { exact: true })).toBeVisible();
  await desk.getByRole('link', { name: 'Review seats' }).click();
  await expect(inspector(desk)).toContainText('Acme');
});
