// What servers are, judged by their reports.
import { toTimestamp } from '#server/wire/fields.ts';
import type { ServerObject, ServerState } from './server-contract.ts';
import type { ServerRow } from './server-store.ts';

/** Three reports late. */
export const LOST_AFTER_MS = 6000;

export function stateOf({ silentMs, state }: Pick<ServerRow, 'silentMs' | 'state'>): ServerState {
  return silentMs > LOST_AFTER_MS ? 'lost' : state;
}

/** Several servers may run on one machine. */
export function fullName({ name, address }: Pick<ServerRow, 'name' | 'address'>): string {
  return `${name} (${address})`;
}

export function toServerObject(row: ServerRow, ownId: string | null): ServerObject {
  const state = stateOf(row);
  return {
    id: row.id,
    name: row.name,
    address: row.address,
    version: row.version,
    schema: row.schemaName,
    state,
    role: row.isLeader && state !== 'lost' ? 'leader' : 'follower',
    started_at: toTimestamp(row.startedAt),
    last_seen_at: toTimestamp(row.lastSeenAt),
    clock_skew_ms: row.clockSkewMs,
    database_ms: row.databaseMs,
    crl_number: row.crlNumber,
    replica: row.replica,
    replica_lag_ms: row.replicaLagMs,
    current: row.id === ownId,
  };
}
