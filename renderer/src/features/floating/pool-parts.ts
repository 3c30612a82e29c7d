// A pool as the parts of its bar.
import type { PoolItem } from '#server/features/leases/lease-admin-contract.ts';
import type { Tone } from '../../components/StatusPill.vue';

export type Pool = PoolItem['pool'];

export const POOL_PARTS = ['used', 'borrowed', 'overdraft', 'reserved', 'free'] as const;
export type PoolPart = (typeof POOL_PARTS)[number];

/** From this share of its seats on, a pool is almost full. */
export const BUSY_PERCENT = 90;

/** Each seat is in one part. `free` is null if the seats are unlimited. */
export function poolParts({ total, in_use: taken, borrowed, overdraft, reserved, available }: Pool) {
  const within = taken - overdraft;
  const away = Math.min(borrowed, within);
  return {
    used: within - away,
    borrowed: away,
    overdraft,
    reserved: total === null ? 0 : reserved,
    free: available,
  } satisfies Record<PoolPart, number | null>;
}

const POOL_STATES = ['overdraft', 'full', 'nearly_full', 'free', 'unlimited'] as const;
export type PoolState = (typeof POOL_STATES)[number];

export function poolState({ total, in_use: taken, overdraft, available }: Pool): PoolState {
  if (total === null) return 'unlimited';
  if (overdraft > 0) return 'overdraft';
  if (available === 0) return 'full';
  return taken * 100 >= total * BUSY_PERCENT ? 'nearly_full' : 'free';
}

export const POOL_TONES: Record<PoolState, Tone> = {
  overdraft: 'bad',
  full: 'bad',
  nearly_full: 'warn',
  free: 'ok',
  unlimited: 'ok',
};
