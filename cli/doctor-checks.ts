// Checks that do not need the database. Each takes a fact and returns a verdict.
import { generateLicenseKey, parseLicenseKey } from '#server/rules/license-key.ts';
import { type DiskSpace, spaceLevel } from '#server/features/storage/disk-space.ts';
import { isNodeSupported } from './node-version.ts';

export interface Check {
  check: string;
  ok: boolean;
  /** Text for people: the finding, and how to fix it. */
  detail: string;
}

/** An earlier clock is wrong and would make expired licenses look valid. */
const EARLIEST_NOW = Date.UTC(2025, 0, 1);

/**
 * @param version such as `v24.21.0`
 * @param range the `engines.node` of package.json: `>=24`
 */
export function checkNodeVersion(version: string, range: string): Check {
  return {
    check: 'node',
    ok: isNodeSupported(version, range),
    detail: `Node ${version} (required: ${range})`,
  };
}

/** @param now epoch milliseconds */
export function checkClock(now: number): Check {
  const time = new Date(now).toISOString();
  const ok = now >= EARLIEST_NOW;
  return { check: 'clock', ok, detail: `the clock reads ${time}${ok ? '' : '; correct it'}` };
}

/** Low space is a warning; a full disk is a failure. */
export function checkDiskSpace(space: DiskSpace): Check {
  const level = spaceLevel(space);
  const megabytes = Math.floor(space.free / 1_000_000);
  const warning = level === 'low' ? 'warning: only ' : '';
  const advice = level === 'full' ? '; free some space, changes cannot be saved' : '';
  return { check: 'disk_space', ok: level !== 'full', detail: `${warning}${megabytes} MB free${advice}` };
}

/** What the file system says about the data directory. */
export interface DirectoryFacts {
  isDirectory: boolean;
  writable: boolean;
  /** Permission bits; null on platforms without them. */
  mode: number | null;
}

/** @param misplaced why a server would not work there, or null */
export function checkDataDirectory(
  path: string,
  facts: DirectoryFacts | null,
  misplaced: string | null,
): Check {
  const found = (ok: boolean, detail: string): Check => ({ check: 'data_directory', ok, detail });
  if (misplaced !== null) return found(false, misplaced);
  if (facts === null) return found(false, `${path} does not exist; license-desk serve creates it`);
  if (!facts.isDirectory) return found(false, `${path} is not a directory`);
  if (!facts.writable) return found(false, `this user cannot write to ${path}`);
  if (facts.mode === null) return found(true, `${path} is writable`);
  const mode = (facts.mode & 0o777).toString(8).padStart(4, '0');
  return found(true, `${path} is writable, mode ${mode}`);
}

/** An update that does not restart the server leaves the old version running. */
export function describeVersion(running: string, installed: string): string {
  const shown = `version ${running}`;
  return running === installed
    ? shown
    : `${shown} (warning: ${installed} is installed; restart the server to run it)`;
}

/** @param exposed what other users can read or change, or null */
export function checkPermissions(exposed: string | null): Check {
  const detail = exposed ?? 'other users cannot read keys or data';
  return { check: 'permissions', ok: exposed === null, detail };
}

/** Whether a generated license key parses and a mistyped one is refused. */
export function checkLicenseKeys(): Check {
  const key = generateLicenseKey();
  const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
  const ok =
    parseLicenseKey(key.toLowerCase().replaceAll('-', ' ')) === key && parseLicenseKey(mistyped) === null;
  const detail = ok ? 'keys parse, and typos are detected' : `${key} does not parse back to itself`;
  return { check: 'license_keys', ok, detail };
}
