// The payload of a license file, and the check of its shape.
import type { LicenseFileKind } from './license-file-format.ts';
import type { LicenseState } from './license-term.ts';

/** The license object of the contract (section 3); timestamps are ISO 8601 UTC. */
export interface LicenseObject {
  readonly license_id: number;
  readonly license_key: string;
  readonly holder: string;
  readonly product: string;
  readonly plan: string;
  readonly machine_fingerprint: string | null;
  readonly issued_at: string;
  readonly expires_at: string;
  readonly state: LicenseState;
  readonly grace_ends_at: string;
  readonly max_activations: number | null;
  readonly activation_count: number;
  readonly features: readonly string[];
  /** Absent from files of servers that knew no floating licenses. */
  readonly licensing?: 'node_locked' | 'floating';
  readonly seats?: number | null;
}

/** The lease of a lease file, with the seat that it holds; timestamps are ISO 8601 UTC. */
export interface LeaseInFile {
  readonly lease_id: number;
  readonly state: 'active' | 'borrowed';
  readonly units: number;
  /** The feature that the seat was taken for, or null. */
  readonly feature: string | null;
  readonly counted_as: string;
  readonly issued_at: string;
  readonly expires_at: string;
}

export interface LicenseFilePayload {
  readonly meta: {
    readonly issued: string;
    /** The earlier of `issued` + `ttl` and the license's `grace_ends_at`. */
    readonly expiry: string;
    /** The file's time to live in seconds; null if only the license limits it. */
    readonly ttl: number | null;
  };
  readonly license: LicenseObject;
  /** Only in a lease file. */
  readonly lease?: LeaseInFile;
  /** The device that this file is bound to, or null. */
  readonly machine: { readonly fingerprint: string } | null;
  readonly issuer: { readonly name: string; readonly key_id: string };
}

type Check = (value: unknown) => boolean;

/** Whether a value is an ISO 8601 timestamp in UTC with `Z`. */
export function isTimestamp(value: unknown): value is string {
  return typeof value === 'string' && TIMESTAMP.test(value) && Number.isFinite(Date.parse(value));
}

const STATES: readonly unknown[] = ['issued', 'active', 'expiring', 'in_grace', 'expired', 'revoked'];
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

const isString: Check = (value) => typeof value === 'string';
const isInteger: Check = (value) => Number.isSafeInteger(value);
const isState: Check = (value) => STATES.includes(value);
const isStringList: Check = (value) => Array.isArray(value) && value.every(isString);
const isObject: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function orNull(check: Check): Check {
  return (value) => value === null || check(value);
}

/** The members of a lease file in addition to those of a license file. */
const LEASE_MEMBERS: readonly (readonly [path: string, check: Check])[] = [
  ['lease', isObject],
  ['lease.lease_id', isInteger],
  ['lease.state', (value) => value === 'active' || value === 'borrowed'],
  ['lease.units', isInteger],
  ['lease.feature', orNull(isString)],
  ['lease.counted_as', isString],
  ['lease.issued_at', isTimestamp],
  ['lease.expires_at', isTimestamp],
];

/** The members that verification and its callers need. Newer servers may add others. */
const MEMBERS: readonly (readonly [path: string, check: Check])[] = [
  ['meta', isObject],
  ['meta.issued', isTimestamp],
  ['meta.expiry', isTimestamp],
  ['meta.ttl', orNull(isInteger)],
  ['license', isObject],
  ['license.license_id', isInteger],
  ['license.license_key', isString],
  ['license.holder', isString],
  ['license.product', isString],
  ['license.plan', isString],
  ['license.machine_fingerprint', orNull(isString)],
  ['license.issued_at', isTimestamp],
  ['license.expires_at', isTimestamp],
  ['license.state', isState],
  ['license.grace_ends_at', isTimestamp],
  ['license.max_activations', orNull(isInteger)],
  ['license.activation_count', isInteger],
  ['license.features', isStringList],
  ['machine', orNull(isObject)],
  ['issuer', isObject],
  ['issuer.name', isString],
  ['issuer.key_id', isString],
];

/**
 * Checks that a decoded payload has the shape above.
 *
 * @returns the payload, or as `problem` the path of the first member that is missing or of the wrong type, such as
 *   `license.expires_at`
 */
export function checkLicenseFilePayload(
  value: unknown,
  kind: LicenseFileKind = 'license',
): { readonly payload: LicenseFilePayload } | { readonly problem: string } {
  const members = kind === 'lease' ? [...MEMBERS, ...LEASE_MEMBERS] : MEMBERS;
  const wrong = members.find(([path, check]) => !check(memberAt(value, path)));
  if (wrong) return { problem: wrong[0] };
  const payload = value as LicenseFilePayload;
  const machineIsSound = payload.machine === null || isString(payload.machine.fingerprint);
  return machineIsSound ? { payload } : { problem: 'machine.fingerprint' };
}

function memberAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((at, name) => (isObject(at) ? (at as Record<string, unknown>)[name] : undefined), value);
}
