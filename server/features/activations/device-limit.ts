// Limits new devices a minute per license (contract, section 8). Counted in memory, for each server separately.
import type { Clock } from '#server/platform/clock.ts';
import { isCurrent, rateLimited, type RateWindow, secondsLeft } from '#server/platform/rate-limit.ts';
import { recentMap } from '#server/platform/recent-map.ts';

/** Beyond it the licenses that gained a device least recently are forgotten. */
const MAX_LICENSES = 20_000;

/** A device that counts, or that would if its activation succeeds. */
interface CountedDevice {
  /** Calls that are still under way. */
  calls: number;
  isActivated: boolean;
}

interface DeviceWindow extends RateWindow {
  byFingerprint: Map<string, CountedDevice>;
}

export interface DeviceLimit {
  /**
   * Takes one of the minute's devices before the activation is tried, so that calls at the same time cannot exceed the
   * limit. The same device takes one only, however often it calls.
   * @returns ends the call; the device stays counted only if one of its calls has activated it
   * @throws ApiError `rate_limited`
   */
  reserve(licenseId: number, fingerprint: string): (isActivated: boolean) => void;
}

/** @param limit 0 turns it off */
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
