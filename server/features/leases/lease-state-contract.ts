// The states of leases and the errors of denials, without schemas: the command line starts without loading them.

export const LEASE_STATES = [
  'active',
  'queued',
  'borrowed',
  'lingering',
  'released',
  'expired',
  'reclaimed',
] as const;

export type LeaseState = (typeof LEASE_STATES)[number];

export const DENIAL_CODES = ['no_seat_available', 'borrow_limit_reached', 'denied_by_rule'] as const;
