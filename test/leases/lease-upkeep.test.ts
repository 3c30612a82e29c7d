// Which leases lease upkeep ends, and when it compares all pools in use with the seats of their licenses: not each second,
// because it reads them all.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { changesSeats, createLeaseUpkeep } from '#server/features/leases/lease-upkeep.ts';

type Needs = Parameters<typeof createLeaseUpkeep>[0];

let leaseTime: number;
let flush: ReturnType<typeof vi.fn<Needs['buffer']['flush']>>;
let findDue: ReturnType<typeof vi.fn<Needs['leases']['findDue']>>;
let needAttention: ReturnType<typeof vi.fn<Needs['poolStore']['needAttention']>>;
let upkeep: ReturnType<typeof createLeaseUpkeep>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  leaseTime = 0;
  flush = vi.fn<Needs['buffer']['flush']>(async () => {});
  findDue = vi.fn<Needs['leases']['findDue']>(async () => []);
  needAttention = vi.fn<Needs['poolStore']['needAttention']>(async () => []);
  upkeep = createLeaseUpkeep({
    leases: { hasLive: async () => true, findDue },
    poolStore: { hasPending: async () => false, needAttention },
    pools: { meterBounds: () => ({ from: 0, to: 0 }) },
    buffer: { flush },
    leaseClock: { now: () => leaseTime, tick: async () => {} },
    clock: { now: () => 0 },
    isClockTrusted: () => false,
  } as unknown as Needs);
});
afterEach(() => void vi.useRealTimers());

/** Runs it so many seconds after the last time. @returns whether it has compared all pools */
async function compares(seconds: number): Promise<boolean | undefined> {
  vi.advanceTimersByTime(seconds * 1000);
  await upkeep.run();
  return needAttention.mock.lastCall?.[1].compares;
}

it('compares them after a start, and then once a minute', async () => {
  expect([await compares(1), await compares(10), await compares(1), await compares(40)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect([await compares(10), await compares(1)]).toEqual([true, false]);
});

it('compares them for ten seconds after seats were changed', async () => {
  expect([await compares(1), await compares(10)]).toEqual([true, false]);
  upkeep.noteSeatsChanged();
  expect([await compares(1), await compares(8), await compares(1)]).toEqual([true, true, false]);
});

it('compares them again if that has failed', async () => {
  expect([await compares(1), await compares(10)]).toEqual([true, false]);
  upkeep.noteSeatsChanged();
  needAttention.mockRejectedValueOnce(new Error('the connection is lost'));
  await expect(compares(1)).rejects.toThrow('the connection is lost');
  expect([await compares(20), await compares(1)]).toEqual([true, false]);
});

it('ends no lease that was not due yet when the heartbeats were written', async () => {
  leaseTime = 60_000;
  flush.mockImplementation(async () => void (leaseTime += 30_000));
  await upkeep.run();
  expect(findDue.mock.lastCall?.[0]).toBeLessThan(60_000);
});

it('seats change with licenses and plans', () => {
  expect(['license.updated', 'license.upgraded', 'plan.updated'].every(changesSeats)).toBe(true);
  expect(['license.created', 'license.renewed', 'device.activated'].some(changesSeats)).toBe(false);
});
