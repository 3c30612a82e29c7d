// Limits checkouts per license key, and heartbeats and changes per lease, in bounded memory.
import type { Clock } from '#server/platform/clock.ts';
import { isCurrent, rateLimited, type RateWindow, secondsLeft } from '#server/platform/rate-limit.ts';
import { OWN_COUNTS, type SharedCounts } from '#server/platform/shared-counts.ts';
import { recentMap } from '#server/platform/recent-map.ts';

/** Enough for a site of thousands of clients in which many wait for a seat. */
const CHECKOUTS_PER_MINUTE = 6000;
/** A client needs three per lease length, of which the shortest is a minute. */
const HEARTBEATS_PER_MINUTE = 60;
/** A client needs one or two for the whole lease, and a few more for heartbeats that find it borrowed or expired. */
const CHANGES_PER_MINUTE = 60;
const MAX_LICENSES = 20_000;
const MAX_LEASES = 100_000;

interface CallWindow extends RateWindow {
  calls: number;
}

export interface LeaseCallLimit {
  /** Counts a call with the key of a license. @throws ApiError `rate_limited` */
  count(licenseId: number): void;
  /** Counts a heartbeat. @throws ApiError `rate_limited` */
  countHeartbeat(leaseId: number): void;
  /** Counts a call that needs a transaction for its lease. @throws ApiError `rate_limited` */
  countChange(leaseId: number): void;
}

/**
 * @param isOn false switches the limits off
 * @param shared for checkouts; the calls for single leases are too many to tell other servers of
 */
export function createLeaseCallLimit(isOn: boolean, clock: Clock, shared: SharedCounts): LeaseCallLimit {
  function limit(most: number, unit: string, memory: number, counts = OWN_COUNTS) {
    const windows = recentMap<number, CallWindow>(memory);
    function windowOf(id: number, now: number): CallWindow {
      const known = windows.get(id);
      if (known && isCurrent(known, now)) return known;
      const fresh = { startedAt: now, calls: 0 };
      windows.set(id, fresh);
      return fresh;
    }
    const share = counts.share(unit, (id, calls) => {
      windowOf(Number(id), clock.now()).calls += calls;
    });
    return (id: number) => {
      if (!isOn) return;
      const now = clock.now();
      const window = windowOf(id, now);
      window.calls += 1;
      share(String(id));
      if (window.calls > most) throw rateLimited(most, unit, secondsLeft(window, now));
    };
  }

  return {
    count: limit(CHECKOUTS_PER_MINUTE, 'checkouts of a license', MAX_LICENSES, shared),
    countHeartbeat: limit(HEARTBEATS_PER_MINUTE, 'heartbeats of a lease', MAX_LEASES),
    countChange: limit(CHANGES_PER_MINUTE, 'changes of a lease', MAX_LEASES),
  };
}
