// Limits checkouts per license key and heartbeats per lease, in bounded memory.
import type { Clock } from '#server/platform/clock.ts';
import { isCurrent, rateLimited, type RateWindow, secondsLeft } from '#server/platform/rate-limit.ts';
import { recentMap } from '#server/platform/recent-map.ts';

/** Enough for a site of thousands of clients in which many wait for a seat. */
const CHECKOUTS_PER_MINUTE = 6000;
/** A client needs three per lease length, of which the shortest is a minute. */
const HEARTBEATS_PER_MINUTE = 60;
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
}

/** @param isOn false switches the limits off */
export function createLeaseCallLimit(isOn: boolean, clock: Clock): LeaseCallLimit {
  function limit(most: number, unit: string, memory: number) {
    const windows = recentMap<number, CallWindow>(memory);
    return (id: number) => {
      if (!isOn) return;
      const now = clock.now();
      let window = windows.get(id);
      if (!window || !isCurrent(window, now)) windows.set(id, (window = { startedAt: now, calls: 0 }));
      window.calls += 1;
      if (window.calls > most) throw rateLimited(most, unit, secondsLeft(window, now));
    };
  }

  return {
    count: limit(CHECKOUTS_PER_MINUTE, 'checkouts of a license', MAX_LICENSES),
    countHeartbeat: limit(HEARTBEATS_PER_MINUTE, 'heartbeats of a lease', MAX_LEASES),
  };
}
