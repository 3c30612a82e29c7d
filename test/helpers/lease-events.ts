// Causes each event of floating licenses once.
import { eventually } from './eventually.ts';
import { newFloatingLicense } from './contract-calls.ts';
import { checkOut, lease, passTime, release } from './leases.ts';
import { eventNames } from './outbox.ts';
import { fingerprintOf, type TestServer } from './test-server.ts';

const CALM_MS = 61_000;
const HOLDER = { user: 'ada', host: 'workstation-7', feature: 'reports' };

async function untilSent(server: TestServer, name: string): Promise<void> {
  await eventually(async () => {
    if (!(await eventNames(server.dataDir)).includes(name)) throw new Error(`${name} was not sent`);
  });
}

export async function causeLeaseEvents(server: TestServer): Promise<void> {
  const features = ['reports'];
  const license = await newFloatingLicense(server, { seats: 1, features });
  const machine_fingerprint = fingerprintOf(0x1ea5e);
  const borrower = await lease(server, license, HOLDER);
  const { lease_token } = borrower;
  await checkOut(server, license, { ...HOLDER, machine_fingerprint });
  await untilSent(server, 'lease.denied');
  await server.post('/leases/borrow/', { lease_token, hours: 1, machine_fingerprint });
  await server.post('/leases/return/', { lease_token });
  const overdrawn = await newFloatingLicense(server, { seats: 1, overdraft_seats: 5, features });
  await lease(server, overdrawn);
  const reclaimed = await lease(server, overdrawn, { ...HOLDER, machine_fingerprint });
  await server.admin.reclaimLease({
    lease_id: reclaimed.lease.lease_id,
    reason: 'The workstation was stolen',
  });
  await passTime(server.dataDir, CALM_MS);
  for (const name of ['pool.available', 'pool.overdraft_ended']) await untilSent(server, name);
  await release(server, lease_token);
}
