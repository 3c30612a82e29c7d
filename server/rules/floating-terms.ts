// What a plan grants to floating licenses, and what a license overrides.

export const LICENSINGS = ['node_locked', 'floating'] as const;
export type Licensing = (typeof LICENSINGS)[number];

/** The limits that a license can override, by their names on the wire. */
export const SEAT_LIMITS = [
  'seats',
  'overdraft_seats',
  'borrow_max_hours',
  'borrow_max_count',
  'borrow_keep_free',
] as const;

/** What shares a seat: nothing, or the leases of one device, one user, or one user on one host. */
export const COUNT_BY = ['process', 'device', 'user', 'user_host'] as const;
export type CountBy = (typeof COUNT_BY)[number];

/** The limits that a license can override. Null means unlimited seats or an unlimited number of borrowed ones. */
interface SeatLimits {
  seats: number | null;
  overdraftSeats: number;
  borrowMaxHours: number;
  borrowMaxCount: number | null;
  /** Seats that are never borrowed. */
  borrowKeepFree: number;
}

export interface FloatingTerms extends SeatLimits {
  leaseSeconds: number;
  countBy: CountBy;
  /** How long a released seat stays with its holder. */
  lingerSeconds: number;
}

/** A license's overrides; null takes the plan's value. */
export interface OwnSeatLimits {
  ownSeats: number | null;
  ownOverdraftSeats: number | null;
  ownBorrowMaxHours: number | null;
  ownBorrowMaxCount: number | null;
  ownBorrowKeepFree: number | null;
}

export const NO_OWN_LIMITS: OwnSeatLimits = {
  ownSeats: null,
  ownOverdraftSeats: null,
  ownBorrowMaxHours: null,
  ownBorrowMaxCount: null,
  ownBorrowKeepFree: null,
};

const DEFAULT_LEASE_SECONDS = 600;

/** The terms of plans that say nothing else. */
export const DEFAULT_TERMS: FloatingTerms = {
  seats: null,
  leaseSeconds: DEFAULT_LEASE_SECONDS,
  countBy: 'process',
  overdraftSeats: 0,
  borrowMaxHours: 0,
  borrowMaxCount: null,
  borrowKeepFree: 0,
  lingerSeconds: 0,
};

/** The terms in force for a license. */
export function floatingTerms(plan: FloatingTerms, own: OwnSeatLimits): FloatingTerms {
  return {
    seats: own.ownSeats ?? plan.seats,
    leaseSeconds: plan.leaseSeconds,
    countBy: plan.countBy,
    overdraftSeats: own.ownOverdraftSeats ?? plan.overdraftSeats,
    borrowMaxHours: own.ownBorrowMaxHours ?? plan.borrowMaxHours,
    borrowMaxCount: own.ownBorrowMaxCount ?? plan.borrowMaxCount,
    borrowKeepFree: own.ownBorrowKeepFree ?? plan.borrowKeepFree,
    lingerSeconds: plan.lingerSeconds,
  };
}

/** A client that misses two heartbeats still keeps its lease. */
export function heartbeatSeconds({ leaseSeconds }: Pick<FloatingTerms, 'leaseSeconds'>): number {
  return Math.floor(leaseSeconds / 3);
}

/** Seats that leases can hold in total; null if unlimited. */
export function seatLimit({ seats, overdraftSeats }: Pick<SeatLimits, 'seats' | 'overdraftSeats'>) {
  return seats === null ? null : seats + overdraftSeats;
}
