// The screens of the back office with a record in each, for specs about all of them.
import type { Locator, Page } from '@playwright/test';
import { expect, issueLicense } from './test.ts';

/** A table on a wide page, a list on a narrow one. */
const stacked = (page: Page, name: string) =>
  page.getByRole('table', { name }).or(page.getByRole('list', { name }));

/** Each with what shows that its content is there. */
export const SCREENS: [address: string, content: (page: Page) => Locator][] = [
  ['overview', (page) => page.getByRole('region', { name: 'Expiring licenses' }).getByRole('listitem')],
  ['licenses', (page) => page.getByRole('grid')],
  ['licenses?open=1', (page) => page.getByRole('complementary').getByRole('tablist')],
  ['floating', (page) => page.getByRole('grid', { name: 'Pools' })],
  ['floating?open=2', (page) => page.getByRole('complementary').getByRole('region', { name: 'Seats' })],
  ['floating?view=leases', (page) => page.getByText('A lease appears here when a client takes a seat.')],
  ['floating?view=denials', (page) => page.getByText('Denied checkouts appear here within a second.')],
  ['floating?view=usage', (page) => page.getByRole('region', { name: 'Choose a floating license.' })],
  ['floating?view=usage&license=2', (page) => page.getByRole('region', { name: 'Denied and queued' })],
  ['floating?view=rules&license=2', (page) => page.getByRole('region', { name: 'Try the rules' })],
  ['licenses?open=2&tab=seats', (page) => page.getByRole('region', { name: 'Leases', exact: true })],
  ['air-gap', (page) => page.getByLabel('Activation request')],
  ['air-gap?view=check', (page) => page.getByRole('tabpanel')],
  ['authorization-tokens', (page) => page.getByRole('heading', { level: 1 })],
  ['certificates', (page) => page.getByRole('tabpanel')],
  ['certificates?view=authority', (page) => page.getByRole('tabpanel')],
  ['certificates?view=crl', (page) => page.getByRole('grid', { name: 'Revoked certificates' })],
  ['plans', (page) => stacked(page, 'Plan comparison')],
  ['webhooks', (page) => page.getByRole('grid', { name: 'Webhooks' })],
  ['webhooks?open=1', (page) => page.getByRole('group', { name: 'State' })],
  ['webhooks/1', (page) => page.getByRole('group', { name: 'State' })],
  ['webhooks?view=catalogue', (page) => page.getByRole('tabpanel')],
  ['failed-events', (page) => page.getByRole('heading', { level: 1 })],
  ['api-access', (page) => page.getByRole('grid', { name: 'API tokens' })],
  ['statistics', (page) => page.getByRole('region', { name: 'Webhook deliveries' })],
  ['audit', (page) => page.getByRole('grid')],
  ['settings', (page) => page.getByRole('radio', { name: 'Network' })],
  ['settings?tab=webhooks', (page) => page.getByLabel('Webhook timeout (seconds)')],
  ['settings?tab=keys', (page) => stacked(page, 'Signing keys')],
  ['settings?tab=sessions', (page) => stacked(page, 'Sessions')],
  ['settings?tab=backup', (page) => page.getByRole('region', { name: 'Create a backup' })],
  ['settings?tab=retention', (page) => stacked(page, 'Retention')],
  ['first-run', (page) => page.getByLabel('Product ID')],
];

/** Creates the records that the addresses name. Webhooks of tests are on this machine: `--webhook-allow 127.0.0.0/8`. */
export async function createRecords(desk: Page): Promise<void> {
  await issueLicense(desk, { holder: 'Österreichische Gesellschaft für Evidenzsicherung', days: 3 });
  const plan = { name: 'pool', licensing: 'floating', seats: 25 };
  expect((await desk.request.post('/admin/api/plans/', { data: plan })).ok()).toBe(true);
  await issueLicense(desk, { holder: 'Forschungsgemeinschaft Strömungssimulation', plan: 'pool' });
  const records = [
    ['webhooks/register', { url: `https://127.0.0.1:1/${'long/'.repeat(20)}`, scope: 'all' }],
    ['api-tokens', { name: 'shop-backend', role: 'integrator' }],
    ['certs/generate', { license_id: 1, common_name: 'workstation 1' }],
    ['certs/revoke', { id: 1, reason: 'superseded' }],
  ] as const;
  for (const [path, data] of records) {
    const response = await desk.request.post(`/admin/api/${path}/`, { data });
    expect(response.ok(), await response.text()).toBe(true);
  }
}
