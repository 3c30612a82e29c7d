// A heartbeat is confirmed from memory only if it comes in time: a lease that is overdue may be ending at that moment.
import { expect, it, vi } from 'vitest';
import { createHeartbeatService } from '#server/features/leases/heartbeat-service.ts';

type Needs = Parameters<typeof createHeartbeatService>[0];

const TOKEN = `lds_${'a'.repeat(43)}`;
const LEASE_MS = 60_000;

/** One lease, which is in memory. */
function service() {
  const facts = {
    id: 1,
    state: 'active',
    licensing: 'floating',
    seats: null,
    features: null,
    revokedAt: null,
    graceEndsAt: Infinity,
    leaseSeconds: LEASE_MS / 1000,
    issuedAt: 0,
    dueAt: LEASE_MS,
    borrowedUntil: null,
    endedAt: null,
  };
  const leaseTime = { now: 0 };
  const add = vi.fn<Needs['buffer']['add']>();
  const withLease = vi.fn(async () => facts);
  const heartbeats = createHeartbeatService({
    lookup: { known: () => facts },
    endings: { withLease, confirmed: (reason: unknown) => reason },
    buffer: { add },
    limit: { countHeartbeat: () => {} },
    leaseClock: { now: () => leaseTime.now, refresh: async () => {} },
    clock: { now: () => 0 },
  } as unknown as Needs);
  return {
    add,
    withLease,
    async beatAt(ms: number) {
      leaseTime.now = ms;
      await heartbeats.heartbeat({ lease_token: TOKEN }, {} as Parameters<typeof heartbeats.heartbeat>[1]);
    },
  };
}

it('each heartbeat that comes in time extends the lease in memory', async () => {
  const { add, withLease, beatAt } = service();
  for (const ms of [LEASE_MS - 1, 2 * LEASE_MS - 2]) await beatAt(ms);
  expect([add.mock.calls.length, withLease.mock.calls.length]).toEqual([2, 0]);
});

it('a late one is decided under the lock of the pool', async () => {
  const { add, withLease, beatAt } = service();
  await beatAt(LEASE_MS);
  expect([add.mock.calls.length, withLease.mock.calls.length]).toEqual([0, 1]);
});
