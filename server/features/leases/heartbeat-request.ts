// Checks a heartbeat without the schema, which takes longer than the answer. Anything unusual is left to the schema,
// whose messages clients get.
import type { RequestOf } from '#server/wire/endpoint.ts';
import { type leaseContract, MAX_HEARTBEATS } from './lease-contract.ts';

type Heartbeat = RequestOf<typeof leaseContract.heartbeatLeases>;

function isTokenList(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MAX_HEARTBEATS &&
    value.every((token) => typeof token === 'string')
  );
}

export function parseHeartbeat(input: unknown): Heartbeat | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  const { lease_token, leases } = input as { lease_token?: unknown; leases?: unknown };
  if (typeof lease_token === 'string' && leases === undefined) return { lease_token };
  return lease_token === undefined && isTokenList(leases) ? { leases } : undefined;
}
