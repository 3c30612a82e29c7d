import { readFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expectAccessible } from './accessibility.ts';
import { expect, expectBriefly, issueLicense, test } from './test.ts';

const run = promisify(execFile);

test('a token is created, used and revoked', async ({ desk, server }) => {
  await desk.goto('/#/api-access');
  await expect(desk.getByRole('region', { name: 'API address' })).toContainText(
    server.api.replace(/\/$/u, ''),
  );
  const reference = await desk.getByRole('link', { name: 'API reference' }).getAttribute('href');
  expect((await desk.request.get(reference ?? '')).status()).toBe(200);

  await desk.getByRole('button', { name: 'Create your first API token' }).click();
  const create = desk.getByRole('dialog', { name: 'New API token' });
  await create.getByLabel('Name').fill('   ');
  await create.getByRole('button', { name: 'Create token' }).click();
  await expect(create.getByRole('alert')).toContainText('Name must not be empty');
  await create.getByLabel('Name').fill('Web-Shop');
  await create.getByRole('button', { name: 'Create token' }).click();
  const created = desk.getByRole('dialog', { name: 'API token created' });
  const token = (await created.getByText(/^ldk_[\w-]{20,}$/u).textContent()) ?? '';
  await created.getByRole('button', { name: 'I have saved it' }).click();

  const row = desk.getByRole('row').filter({ hasText: 'Web-Shop' });
  await expect(row).toContainText('Integrator');
  await expect(row).toContainText(`ldk_…${token.slice(-4)}`);
  await expect(row).toContainText('Never');
  await expectAccessible(desk);
  const headers = { authorization: `Bearer ${token}` };
  expect((await desk.request.get(`${server.api}plans/`, { headers })).status()).toBe(200);
  const listed = async () => (await desk.request.get('/admin/api/api-tokens/')).text();
  await expect.poll(listed).not.toContain('"last_used_at":null');
  await desk.goto('/#/plans');
  await expect(desk.getByRole('heading', { name: 'Plans', exact: true })).toBeVisible();
  await desk.goto('/#/api-access');
  await expect(row).toContainText(/now|ago/u);

  await row.getByRole('button', { name: 'Revoke Web-Shop' }).click();
  const revoke = desk.getByRole('dialog', { name: 'Revoke API token Web-Shop?' });
  await revoke.getByLabel('Type Web-Shop to confirm').fill('Web-Shop');
  await revoke.getByRole('button', { name: 'Revoke' }).click();
  await expect(
    desk.getByRole('log', { name: 'Results' }).getByText('API token Web-Shop revoked'),
  ).toBeVisible();
  await expect(row).toContainText('Revoked');
  await expect(row.getByRole('button')).toHaveCount(0);
  expect((await desk.request.get(`${server.api}plans/`, { headers })).status()).toBe(401);
});

test('a secret is not lost by accident', { tag: '@browser' }, async ({ desk, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await desk.goto('/#/api-access');
  const created = desk.getByRole('dialog', { name: 'API token created' });
  const question = created.getByRole('alert');
  const secret = created.getByText(/^ldk_[\w-]+$/u);
  const create = async (name: string) => {
    await desk.getByRole('button', { name: 'New API token' }).click();
    await desk.getByLabel('Name').fill(name);
    await desk.keyboard.press('Enter');
    await expect(secret).toBeVisible();
  };
  await create('copied');
  await desk.mouse.click(5, 5);
  await expect(secret).toBeVisible();
  for (const leave of [() => desk.keyboard.press('Escape'), () => created.getByLabel('Dismiss').click()]) {
    await leave();
    await expect(question).toContainText('You have not confirmed that the secret is stored.');
    await question.getByRole('button', { name: 'Keep open' }).click();
    await expect(question).toHaveCount(0);
  }
  const copy = created.getByRole('button', { name: /^Copy/u });
  await expectBriefly(copy, 'Copied', () => copy.click());
  await desk.keyboard.press('Escape');
  await expect(created).toHaveCount(0);

  await create('saved');
  const shown = await secret.textContent();
  const downloaded = desk.waitForEvent('download');
  await created.getByRole('button', { name: 'Save as file' }).click();
  const file = await downloaded;
  expect(file.suggestedFilename()).toBe('api-token.txt');
  expect(await readFile(await file.path(), 'utf8')).toBe(`${shown}\n`);
  // The browser does not tell the page whether the file was saved or its dialog was canceled.
  await desk.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Keep open' }).click();
  await created.getByRole('button', { name: 'I have saved it' }).click();
  await expect(created).toHaveCount(0);
});

test('a token ends, and works from its networks only', async ({ desk, server }) => {
  await desk.goto('/#/api-access');
  await desk.getByRole('button', { name: 'Create your first API token' }).click();
  const create = desk.getByRole('dialog', { name: 'New API token' });
  await create.getByLabel('Name').fill('Office');
  await create.getByLabel('Expires').fill('0090-12-31');
  await create.getByLabel('Allowed networks').fill('10.1.0.0/16\nnot-a-network');
  await create.getByRole('button', { name: 'Create token' }).click();
  await expect(create.getByLabel('Allowed networks')).toHaveAttribute('aria-invalid', 'true');
  await expect(create.getByLabel('Expires')).toHaveAttribute('aria-invalid', 'true');
  await create.getByLabel('Expires').fill('2090-12-31');
  await create.getByLabel('Allowed networks').fill('10.1.0.0/16\n192.0.2.7');
  await expectAccessible(desk);
  await create.getByRole('button', { name: 'Create token' }).click();
  const created = desk.getByRole('dialog', { name: 'API token created' });
  const token = (await created.getByText(/^ldk_[\w-]{20,}$/u).textContent()) ?? '';
  await created.getByRole('button', { name: 'I have saved it' }).click();
  const row = desk.getByRole('row').filter({ hasText: 'Office' });
  await expect(row).toContainText('10.1.0.0/16, 192.0.2.7');
  await expect(row).toContainText('31 Dec 2090');
  const headers = { authorization: `Bearer ${token}` };
  expect((await desk.request.get(`${server.api}plans/`, { headers })).status()).toBe(401);
});

/** How to run a sample, from a file or in a shell. */
const PROGRAMS = {
  curl: (text: string) => run('sh', ['-c', text]),
  Python: (text: string) => run('python3', ['-c', text]),
  JavaScript: (text: string) => run('node', ['--input-type=module', '-e', text]),
};

test('the code samples run unchanged', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme Robotics', product: 'studio-pro' });
  await desk.goto('/#/api-access?view=samples');
  const license = desk.getByRole('combobox', { name: 'License' });
  await license.fill('robotics');
  await desk.getByRole('option', { name: 'Acme Robotics' }).click();

  const sample = desk.getByRole('group', { name: 'Code sample' });
  const expected = [
    ['Activate a device', { license: { holder: 'Acme Robotics' } }],
    ['Validate a license file', { valid: true }],
    ['Check whether a device is authorized', { authorized: true }],
  ] as const;
  for (const [language, runProgram] of Object.entries(PROGRAMS)) {
    await desk.getByRole('tab', { name: language }).click();
    for (const [action, answer] of expected) {
      await desk.getByLabel('Call').selectOption(action);
      const { stdout } = await runProgram(await sample.innerText());
      expect(JSON.parse(stdout)).toMatchObject(answer);
    }
  }
  await desk.getByRole('tab', { name: 'C#' }).click();
  await expect(sample).toContainText('using System.Text.Json;');
  await expectAccessible(desk);
});
