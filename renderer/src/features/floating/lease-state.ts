// Lease states with their colors, and what a lease is called.
import type { LeaseRecord } from '#server/features/leases/lease-admin-contract.ts';
import { LEASE_STATES } from '#server/features/leases/lease-state-contract.ts';
import type { Tone } from '../../components/StatusPill.vue';

export type LeaseState = LeaseRecord['state'];

export const LEASE_TONES: Record<LeaseState, Tone> = {
  active: 'ok',
  queued: 'warn',
  borrowed: 'info',
  lingering: 'idle',
  released: 'idle',
  expired: 'idle',
  reclaimed: 'bad',
};

/** `live`: leases that hold a seat or wait for one. */
export const LEASE_FILTERS = ['live', ...LEASE_STATES] as const;

interface Client {
  user: string | null;
  host: string | null;
  address?: string | null;
}

/** Null if the client has not said who it is. */
export function clientName({ user, host, address = null }: Client): string | null {
  return user ?? host ?? address;
}

/** `sha256:a1a1a1…` */
export function shortFingerprint(fingerprint: string): string {
  return `${fingerprint.slice(0, 15)}…`;
}
