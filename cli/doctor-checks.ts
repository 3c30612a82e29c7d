// What can be told of an installation without its database: one check for each fact, given the fact.
import { generateLicenseKey, parseLicenseKey } from '#server/rules/license-key.ts';
import { type DiskSpace, spaceLevel } from '#server/features/storage/disk-space.ts';

export interface Check {
  check: string;
  ok: boolean;
  /** For people: what was found, and what to do about it. */
  detail: string;
}

/** Before this the clock is certainly wrong, and every license would look fresh. */
const EARLIEST_NOW = Date.UTC(2025, 0, 1);

/**
 * @param version such as `v24.21.0`
 * @param range the `engines.node` of package.json: `>=20.19`
 */
export function checkNodeVersion(version: string, range: string): Check {
  const [major = 0, minor = 0] = numbers(version);
  const [leastMajor = 0, leastMinor = 0] = numbers(range);
  const ok = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  return { check: 'node', ok, detail: `Node ${version}, needed is ${range}` };
}

/** @param now epoch milliseconds */
export function checkClock(now: number): Check {
  const time = new Date(now).toISOString();
  const ok = now >= EARLIEST_NOW;
  return { check: 'clock', ok, detail: `the clock reads ${time}${ok ? '' : ': set it'}` };
}

/** Little space is a warning, as everything still works; a full disk is a failure. */
export function checkDiskSpace(space: DiskSpace): Check {
  const level = spaceLevel(space);
  const megabytes = Math.floor(space.free / 1_000_000);
  const warning = level === 'low' ? 'warning: only ' : '';
  const advice = level === 'full' ? ': changes cannot be saved until there is more' : '';
  return { check: 'disk_space', ok: level !== 'full', detail: `${warning}${megabytes} MB are free${advice}` };
}

/** A data directory as found, or null if there is none. */
export interface DirectoryFacts {
  isDirectory: boolean;
  writable: boolean;
  /** Permission bits; null where the platform has none. */
  mode: number | null;
}

export function checkDataDirectory(path: string, facts: DirectoryFacts | null): Check {
  const found = (ok: boolean, detail: string): Check => ({ check: 'data_directory', ok, detail });
  if (facts === null) return found(false, `${path} does not exist; the first start makes it`);
  if (!facts.isDirectory) return found(false, `${path} is not a folder`);
  if (!facts.writable) return found(false, `${path} is not writable for this user`);
  if (facts.mode === null) return found(true, `${path} is writable`);
  const mode = (facts.mode & 0o777).toString(8).padStart(4, '0');
  return found(true, `${path} is writable, mode ${mode}`);
}

/** @param exposed what other users could read or change, in words, or null */
export function checkPermissions(exposed: string | null): Check {
  const detail = exposed ?? 'keys and data are closed to other users';
  return { check: 'permissions', ok: exposed === null, detail };
}

/** Whether a license key as made here is read back, and a mistyped one is noticed. */
export function checkLicenseKeys(): Check {
  const key = generateLicenseKey();
  const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
  const ok =
    parseLicenseKey(key.toLowerCase().replaceAll('-', ' ')) === key && parseLicenseKey(mistyped) === null;
  const detail = ok ? 'made, read back, and a typo is noticed' : `${key} is not read back as it was made`;
  return { check: 'license_keys', ok, detail };
}

function numbers(version: string): number[] {
  return version.match(/\d+/gu)?.map(Number) ?? [];
}
