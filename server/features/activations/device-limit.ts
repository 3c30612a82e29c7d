// Limits new devices per license and minute (contract, section 8). Counts in memory.
import type { Clock } from '#server/platform/clock.ts';
import { isCurrent, rateLimited, type RateWindow, secondsLeft } from '#server/platform/rate-limit.ts';
import type { SharedCounts } from '#server/platform/shared-counts.ts';
import { recentMap } from '#server/platform/recent-map.ts';

/** Above this, the licenses with the least recent activations are forgotten. */
const MAX_LICENSES = 20_000;

/** A device that counts, or will count if its activation succeeds. */
interface CountedDevice {
  /** Calls in progress. */
  calls: number;
  isActivated: boolean;
}

interface DeviceWindow extends RateWindow {
  byFingerprint: Map<string, CountedDevice>;
  /** Devices that other servers have activated. */
  elsewhere: number;
}

export interface DeviceLimit {
  /**
   * Reserves one of the minute's devices before the activation, so that concurrent calls cannot exceed the limit.
   * Repeated calls for one device use one reservation.
   * @returns ends the call; the device stays counted only if one of its calls activated it
   * @throws ApiError `rate_limited`
   */
  reserve(licenseId: number, fingerprint: string): (isActivated: boolean) => void;
}

/** @param limit 0 disables the limit */
export function createDeviceLimit(limit: number, clock: Clock, shared: SharedCounts): DeviceLimit {
  const windows = recentMap<number, DeviceWindow>(MAX_LICENSES);

  function windowOf(licenseId: number, now: number): DeviceWindow {
    const known = windows.get(licenseId);
    if (known && isCurrent(known, now)) return known;
    const fresh: DeviceWindow = { startedAt: now, byFingerprint: new Map(), elsewhere: 0 };
    windows.set(licenseId, fresh);
    return fresh;
  }

  const share = shared.share('new devices', (licenseId, count) => {
    windowOf(Number(licenseId), clock.now()).elsewhere += count;
  });

  return {
    reserve(licenseId, fingerprint) {
      if (limit === 0) return () => {};
      const now = clock.now();
      const window = windowOf(licenseId, now);
      const { byFingerprint } = window;
      const device = byFingerprint.get(fingerprint) ?? { calls: 0, isActivated: false };
      if (device.calls === 0 && !device.isActivated && byFingerprint.size + window.elsewhere >= limit)
        throw rateLimited(limit, 'new devices of a license', secondsLeft(window, now));
      byFingerprint.set(fingerprint, device);
      device.calls += 1;
      return (isActivated) => {
        device.calls -= 1;
        if (isActivated && !device.isActivated) share(String(licenseId));
        device.isActivated ||= isActivated;
        if (device.calls === 0 && !device.isActivated) byFingerprint.delete(fingerprint);
      };
    },
  };
}
