// What of a pool has to be announced: that all its seats are taken, and that more are in use than it has. Pure.
import type { EventName } from '#server/features/events/event-contract.ts';
import type { PoolRow } from './pool-store.ts';

/** The announced states, and when each ended; null while it lasts. */
type PoolMarks = Pick<PoolRow, 'exhausted' | 'freeSince' | 'overdrawn' | 'coveredSince'>;

interface Seats {
  /** Without overdraft; null if unlimited. */
  seats: number | null;
  limit: number | null;
  inUse: number;
}

/** @param now lease time @returns what to announce now, and the marks that remember it */
export function announcements(before: PoolMarks, { seats, limit, inUse }: Seats, now: number) {
  const names: EventName[] = [];
  const follow = (isNow: boolean, announced: number, since: number | null, name: EventName) => {
    if (!isNow) return { announced, since: announced === 1 ? (since ?? now) : null };
    if (announced === 0) names.push(name);
    return { announced: 1, since: null };
  };
  const isFull = limit !== null && inUse >= limit;
  const full = follow(isFull, before.exhausted, before.freeSince, 'pool.exhausted');
  const isOver = seats !== null && inUse > seats;
  const over = follow(isOver, before.overdrawn, before.coveredSince, 'pool.overdraft_started');
  const marks: PoolMarks = {
    exhausted: full.announced,
    freeSince: full.since,
    overdrawn: over.announced,
    coveredSince: over.since,
  };
  return { names, marks };
}

export function isSame(one: PoolMarks, other: PoolMarks): boolean {
  return (
    one.exhausted === other.exhausted &&
    one.freeSince === other.freeSince &&
    one.overdrawn === other.overdrawn &&
    one.coveredSince === other.coveredSince
  );
}
