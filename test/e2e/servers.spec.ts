// Servers that share a PostgreSQL database: their list in the settings, and the alerts when one of them is lost or the
// replica cannot be read.
import { hasPostgres, startPostgres } from '../helpers/postgres-cluster.ts';
import { expectAccessible } from './accessibility.ts';
import { startServer, type TestServer } from './server.ts';
import { goTo } from './tasks.ts';
import { expect, test as base } from './test.ts';

const test = base.extend<{ databaseUrl: string; second: TestServer }>({
  // Servers that share a database share the master key. Servers inherit it from this process.
  databaseUrl: async ({ possible: _possible }, use) => {
    process.env['LICENSE_DESK_MASTER_KEY'] = Buffer.alloc(32, 7).toString('base64');
    const postgres = await startPostgres();
    await use(await postgres.newDatabase());
    await postgres.stop();
    delete process.env['LICENSE_DESK_MASTER_KEY'];
  },
  serverFlags: async ({ databaseUrl }, use) => use(['--database-url', databaseUrl]),
  second: async ({ server: _first, serverFlags }, use) => {
    const second = await startServer(serverFlags);
    await use(second);
    await second.dispose();
  },
});

/** Names the primary database as the replica, which it is not. */
const withoutReplica = test.extend({
  serverFlags: async ({ databaseUrl }, use) =>
    use(['--database-url', databaseUrl, '--replica-database-url', databaseUrl]),
});

base('a single server is listed with its state', async ({ desk }) => {
  await goTo(desk, 'Settings');
  await desk.getByRole('tab', { name: 'Servers' }).click();
  const rows = desk.getByRole('table', { name: 'Servers' }).locator('tbody').getByRole('row');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('This server');
  await expect(rows).toContainText('Ready');
  await expect(rows).toContainText('Leader');
  await expect(rows).toContainText('In sync');
  await expectAccessible(desk);
});

base('replicas are shown with how far they are behind', { tag: '@browser' }, async ({ desk }) => {
  const replicas = [
    { replica: 'in_use', replica_lag_ms: 20 },
    { replica: 'in_use', replica_lag_ms: 2600 },
    { replica: 'behind', replica_lag_ms: 75_400 },
    { replica: 'unreachable', replica_lag_ms: null },
    { replica: 'checking', replica_lag_ms: null },
    { replica: null, replica_lag_ms: null },
  ];
  await desk.route('**/admin/api/servers/', async (route) => {
    const reply = await route.fetch();
    const { items, ...rest } = (await reply.json()) as { items: object[] };
    const shown = replicas.map((replica, id) => ({ ...items[0], id: String(id), ...replica }));
    await route.fulfill({ response: reply, json: { ...rest, items: shown } });
  });
  await desk.goto('/#/settings?tab=servers');
  const table = desk.getByRole('table', { name: 'Servers' });
  await expect(table.getByRole('columnheader', { name: 'Replica' })).toBeVisible();
  const cells = table.locator('tbody tr').locator('td:last-child');
  await expect(cells).toHaveText(
    [
      'In use Up to date',
      'In use 3 s behind',
      'Not used The replica is too far behind. 75 s behind',
      'Not used The replica does not answer.',
      'Checking',
      '–',
    ],
    { useInnerText: true },
  );
  await expectAccessible(desk);
  await desk.setViewportSize({ width: 1100, height: 700 });
  const hiddenPx = () =>
    desk.locator('table').evaluate(({ parentElement: frame }) => frame!.scrollWidth - frame!.clientWidth);
  for (const language of ['de', 'en']) {
    await desk.getByLabel(/Language|Sprache/u).selectOption(language);
    await expect(desk.locator('html')).toHaveAttribute('lang', language);
    // Roles and versions are beside the others' values.
    await expect(desk.locator('tbody tr').first()).toContainText(
      language === 'en' ? /Version \d.*Ready\s*Leader/u : /Version \d.*Bereit\s*Leader/u,
    );
    expect(await hiddenPx(), language).toBe(0);
  }
  await desk.setViewportSize({ width: 390, height: 844 });
  await expect(desk.getByRole('list', { name: 'Servers' }).getByRole('listitem')).toHaveCount(
    replicas.length,
  );
  expect(await desk.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await expectAccessible(desk);
});

test(
  'servers on one database are listed, and the overview leads to one that is lost',
  { tag: '@browser' },
  async ({ desk, second }) => {
    test.skip(!hasPostgres, 'PostgreSQL is not installed');
    const rows = desk.getByRole('table', { name: 'Servers' }).locator('tbody').getByRole('row');
    const other = rows.filter({ hasText: new URL(second.api).host });
    await desk.goto('/#/settings?tab=servers');
    await expect(rows).toHaveCount(2);
    await expect(other).toContainText('Ready');
    await expect(other).toContainText('Follower');
    await expect(other).not.toContainText('This server');
    await expectAccessible(desk);

    await second.crash();
    await expect(other).toContainText('Not reporting');
    await expect(other).toContainText('Last seen');

    await goTo(desk, 'Overview');
    await expect(desk.getByText(/^Server .+ has stopped reporting\.$/u)).toBeVisible();
    await expectAccessible(desk);
    await desk.getByRole('link', { name: 'Show servers' }).click();
    await expect(other).toContainText('Not reporting');
    await expectAccessible(desk);

    // On a phone the rows stack, and nothing scrolls sideways.
    await desk.setViewportSize({ width: 390, height: 844 });
    await expect(desk.getByRole('list', { name: 'Servers' }).getByRole('listitem')).toHaveCount(2);
    expect(await desk.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await expectAccessible(desk);
  },
);

withoutReplica(
  'the overview says why lists are not read from the replica, and leads to its setting',
  { tag: '@browser' },
  async ({ desk }) => {
    withoutReplica.skip(!hasPostgres, 'PostgreSQL is not installed');
    const attention = desk.getByRole('region', { name: 'Needs attention' });
    const alert = attention.getByRole('listitem').filter({ hasText: 'replica' });
    await expect(alert).toContainText('Lists are not read from the replica.');
    await expect(alert).toContainText('The database at “Replica URL” is not a streaming replica.');
    await expect(alert).toContainText('lists are read from the primary database');
    await expectAccessible(desk);

    await desk.getByLabel('Language').selectOption('Deutsch');
    const german = desk.getByRole('region', { name: 'Handlungsbedarf' }).getByRole('listitem');
    await expect(german.filter({ hasText: 'Replikat' })).toContainText(
      'Die Datenbank unter „Replikat-URL“ ist kein Streaming-Replikat.',
    );
    await desk.getByLabel('Sprache').selectOption('English');
    await alert.getByRole('link', { name: 'Open settings' }).click();
    await expect(desk.getByLabel('Replica URL', { exact: true })).toBeVisible();
  },
);
