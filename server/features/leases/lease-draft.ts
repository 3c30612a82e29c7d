// Turns a checkout into the lease that it asks for. Pure.
import type { License } from '#server/rules/license.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { refusedField } from '#server/wire/errors.ts';
import type { CountBy } from '#server/rules/floating-terms.ts';
import type { leaseContract } from './lease-contract.ts';
import { holdsSeat, type LeaseRow, nameKey } from './lease-row.ts';

export type CheckoutRequest = RequestOf<typeof leaseContract.checkoutLease>;
/** What the client decides about its lease. */
export type LeaseDraft = Pick<
  LeaseRow,
  | 'licenseId'
  | 'instanceId'
  | 'units'
  | 'seatKey'
  | 'product'
  | 'feature'
  | 'userName'
  | 'userKey'
  | 'host'
  | 'hostKey'
  | 'machineFingerprint'
  | 'address'
  | 'leaseSeconds'
>;

function needed<Value>(
  name: keyof CheckoutRequest,
  value: Value | null | undefined,
  countBy: CountBy,
): Value {
  if (value !== null && value !== undefined) return value;
  throw refusedField(name, `is required, because the plan counts seats by ${countBy.replace('_', ' and ')}`);
}

/** What the seat of a checkout is counted by. @throws ApiError `invalid_request` if the request does not say it */
function seatKeyOf(request: CheckoutRequest, countBy: CountBy): string {
  const user = () => needed('user', nameKey(request.user ?? null), countBy);
  const host = () => needed('host', nameKey(request.host ?? null), countBy);
  switch (countBy) {
    case 'process':
      return `process:${request.instance_id}`;
    case 'device':
      return `device:${needed('machine_fingerprint', request.machine_fingerprint, countBy)}`;
    case 'user':
      return `user:${user()}`;
    case 'user_host':
      return `user_host:${user()}@${host()}`;
  }
}

/** Whether the seat belongs to a different device. */
function isOfOtherDevice({ seatKey }: Pick<LeaseRow, 'seatKey'>, fingerprint: string): boolean {
  return seatKey.startsWith('device:') && seatKey !== `device:${fingerprint}`;
}

/**
 * Whether a client that asks on another device gives its lease up: it has released the seat, or none is held for it.
 * @param fingerprint of the device that asks
 */
export function isLeft(
  lease: Pick<LeaseRow, 'seatKey' | 'state' | 'offered'>,
  fingerprint: string | undefined,
): boolean {
  if (lease.state !== 'lingering' && holdsSeat(lease)) return false;
  return fingerprint !== undefined && isOfOtherDevice(lease, fingerprint);
}

/**
 * All leases of a device share one seat. Given to another device as well, it would serve both.
 * @param fingerprint of the device that asks @throws ApiError `invalid_request`
 */
export function checkDevice(lease: Pick<LeaseRow, 'seatKey'>, fingerprint: string): void {
  if (!isOfOtherDevice(lease, fingerprint)) return;
  throw refusedField('machine_fingerprint', 'must be the device that holds the seat');
}

/** @param address the caller's network address @throws ApiError `invalid_request` */
export function draftLease(request: CheckoutRequest, license: License, address: string | null): LeaseDraft {
  const { user = null, host = null } = request;
  return {
    licenseId: license.id,
    instanceId: request.instance_id,
    units: request.units,
    seatKey: seatKeyOf(request, license.terms.countBy),
    product: license.product,
    feature: request.feature ?? null,
    userName: user,
    userKey: nameKey(user),
    host,
    hostKey: nameKey(host),
    machineFingerprint: request.machine_fingerprint ?? null,
    address,
    leaseSeconds: license.terms.leaseSeconds,
  };
}
