// The states of leases, the errors of denials and the longest wait, without schemas: the command line starts without
// loading them.

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

/** The most that a client can ask a server to keep it in the queue. */
export const MAX_WAIT_SECONDS = 3600;

export const DENIAL_CODES = ['no_seat_available', 'borrow_limit_reached', 'denied_by_rule'] as const;
