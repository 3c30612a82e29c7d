// Limits new devices per license and minute (contract, section 8). Counts in memory, per server.
import type { Clock } from '#server/platform/clock.ts';
import { isCurrent, rateLimited, type RateWindow, secondsLeft } from '#server/platform/rate-limit.ts';
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
}

export interface DeviceLimit {
  /**
   * Reserves one of the minute's devices before the activation, so that concurrent calls cannot exceed the limit.
   * Repeated calls for
   * one device use one reservation.
   * @returns ends the call; the device stays counted only if one of its calls activated it
   * @throws ApiError `rate_limited`
   */
  reserve(licenseId: number, fingerprint: string): (isActivated: boolean) => void;
}

/** @param limit 0 disables the limit */
export function createDeviceLimit(limit: number, clock: Clock): DeviceLimit {
  const windows = recentMap<number, DeviceWindow>(MAX_LICENSES);

  function windowOf(licenseId: number, now: number): DeviceWindow {
    const known = windows.get(licenseId);
    if (known && isCurrent(known, now)) return known;
    const fresh: DeviceWindow = { startedAt: now, byFingerprint: new Map() };
    windows.set(licenseId, fresh);
    return fresh;
  }

  return {
    reserve(licenseId, fingerprint) {
      if (limit === 0) return () => {};
      const now = clock.now();
      const window = windowOf(licenseId, now);
      const { byFingerprint } = window;
      const device = byFingerprint.get(fingerprint) ?? { calls: 0, isActivated: false };
      if (device.calls === 0 && !device.isActivated && byFingerprint.size >= limit)
        throw rateLimited(limit, 'new devices of a license', secondsLeft(window, now));
      byFingerprint.set(fingerprint, device);
      device.calls += 1;
      return (isActivated) => {
        device.calls -= 1;
        device.isActivated ||= isActivated;
        if (device.calls === 0 && !device.isActivated) byFingerprint.delete(fingerprint);
      };
    },
  };
}
