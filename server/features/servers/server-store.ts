import { inOrder, numbered, type Values } from '#server/database/named-values.ts';
import type { PostgresWatch } from '#server/database/postgres-watch.ts';
import type { ReplicaState } from './server-contract.ts';

/** What a server reports about itself. Times are epoch milliseconds. */
export interface ServerReport {
  id: string;
  name: string;
  address: string;
  version: string;
  schemaName: string;
  startedAt: number;
  state: 'ready' | 'not_ready' | 'draining';
  isLeader: boolean;
  clockSkewMs: number;
  databaseMs: number;
  crlNumber: number | null;
  /** Null without a replica. */
  replica: ReplicaState | null;
  /** Null if it is not known. */
  replicaLagMs: number | null;
}

export interface ServerRow extends Omit<ServerReport, 'isLeader'> {
  isLeader: 0 | 1;
  lastSeenAt: number;
  /** How long ago that was. */
  silentMs: number;
}

const NOW = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)';

const REPORT = `
  INSERT INTO servers (id, name, address, version, schema_name, started_at, last_seen_at, state, is_leader,
    clock_skew_ms, database_ms, crl_number, replica, replica_lag_ms)
  VALUES ($id, $name, $address, $version, $schemaName, $startedAt, ${NOW}, $state, $isLeader,
    $clockSkewMs, $databaseMs, $crlNumber, $replica, $replicaLagMs)
  ON CONFLICT (id) DO UPDATE SET last_seen_at = excluded.last_seen_at, state = excluded.state,
    is_leader = excluded.is_leader, clock_skew_ms = excluded.clock_skew_ms, database_ms = excluded.database_ms,
    crl_number = excluded.crl_number, replica = excluded.replica, replica_lag_ms = excluded.replica_lag_ms`;

const LIST = `
  SELECT id AS "id", name AS "name", address AS "address", version AS "version", schema_name AS "schemaName",
    started_at AS "startedAt", last_seen_at AS "lastSeenAt", state AS "state", is_leader AS "isLeader",
    clock_skew_ms AS "clockSkewMs", database_ms AS "databaseMs", crl_number AS "crlNumber",
    replica AS "replica", replica_lag_ms AS "replicaLagMs",
    ${NOW} - last_seen_at AS "silentMs"
  FROM servers ORDER BY started_at, id`;

const FORGET = `DELETE FROM servers WHERE last_seen_at < ${NOW} - $silentMs`;

/** The process that had this address has ended, even if it could not leave. */
const REPLACE = 'DELETE FROM servers WHERE name = $name AND address = $address AND id <> $id';

/** Over the watch connection: a busy pool must not make a server look lost. */
export function createServerStore(watch: Pick<PostgresWatch, 'query'>) {
  function prepared<Row extends object>(source: string): (values?: Values) => Promise<Row[]> {
    const { text, names } = numbered(source, '$');
    return (values = {}) =>
      watch.query<Row>(
        text,
        inOrder(names, values, (list) => list),
      );
  }
  const report = prepared(REPORT);
  const list = prepared<ServerRow>(LIST);
  const replace = prepared(REPLACE);
  const forget = prepared(FORGET);
  const remove = prepared('DELETE FROM servers WHERE id = $id');
  return {
    async report(about: ServerReport): Promise<void> {
      await report({ ...about, isLeader: about.isLeader ? 1 : 0 });
    },
    /** The longest running first. */
    list: (): Promise<ServerRow[]> => list(),
    /** Removes what an earlier process with this address has left. */
    async replace({ id, name, address }: ServerReport): Promise<void> {
      await replace({ id, name, address });
    },
    async forgetSilent(silentMs: number): Promise<void> {
      await forget({ silentMs });
    },
    async remove(id: string): Promise<void> {
      await remove({ id });
    },
  };
}

export type ServerStore = ReturnType<typeof createServerStore>;
