import { beforeAll, expect, it } from 'vitest';
import { EVENT_NAMES, sampleEvent } from '#server/features/events/event-contract.ts';
import { activateDevice, newBearer, newLicense, success } from '../helpers/contract-calls.ts';
import { eventsOf, type StoredEvent } from '../helpers/outbox.ts';
import { causeLeaseEvents } from '../helpers/lease-events.ts';
import { runScan } from '../helpers/scan.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';

const clock = sharedClock(Date.UTC(2035, 0, 1));
const server = sharedServer({ clock });
let events: StoredEvent[];

/** Names and kinds of all fields, in order. */
function shapeOf(value: unknown): unknown {
  if (typeof value === 'string' && !Number.isNaN(Date.parse(value)) && value.endsWith('Z')) return 'moment';
  if (typeof value === 'string' && /^(sha256:)?[0-9a-f]{32,}$/u.test(value)) return `${value.length} hex`;
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.entries(value).map(([name, field]) => [name, shapeOf(field)]);
}

beforeAll(async () => {
  const bearer = await newBearer(server);
  const license = await newLicense(server);
  const { license_id } = license;
  await activateDevice(server, license);
  const { certificate } = await server.admin.generateCertificate({ license_id, common_name: 'pc-7' });
  await server.admin.revokeCertificate({ id: certificate.id, reason: 'superseded' });
  await success(server, 'renew', { license_id, days: 1 }, bearer);
  await success(server, 'upgrade', { license_id, plan: 'enterprise' }, bearer);
  const { license: now } = await server.admin.showLicense({ ref: license.license_key });
  const ends = Date.parse(now.expires_at);
  for (const moment of [ends - 1, ends, Date.parse(now.grace_ends_at)]) {
    clock.set(moment);
    await runScan(server.dataDir, clock);
  }
  await server.admin.revokeLicense({ ref: license.license_key, reason: 'chargeback' });
  await causeLeaseEvents(server);
  events = await eventsOf(server.dataDir);
});

it.each(EVENT_NAMES)('the sample of %s has the fields that receivers get', (name) => {
  const sent = events.find((event) => event.name === name);
  expect(shapeOf(sampleEvent(name))).toEqual(shapeOf(sent?.body));
});
