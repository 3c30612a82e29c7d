// Wires the replica of the database, from which the back office reads lists.
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import { readListsFrom } from '#server/database/list-source.ts';
import { SCHEMA } from '#server/database/migrate.ts';
import { followReplica, type Replica } from '#server/database/postgres-replica.ts';
import type { PostgresWatch } from '#server/database/postgres-watch.ts';
import { REPLICA_MESSAGES, type ReplicaProblem } from '#server/database/replica-state.ts';
import type { adminContract } from '#server/contract.ts';
import type { ServerReport } from '#server/features/servers/server-store.ts';
import type { Config } from '#server/platform/config.ts';
import { readReplicaUrl } from '#server/platform/database-url.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { MountOptions } from '#server/platform/mount.ts';

/**
 * The calls of the back office that a replica may answer. They show things and decide nothing. What they leave in memory for
 * other calls must be read with `statement` or in `readForLater`, which always ask the database itself.
 */
const LISTS: ReadonlySet<string> = new Set<keyof typeof adminContract>([
  'listLicenses',
  'countLicenses',
  'licenseTimeline',
  'exportLicenses',
  'listDevices',
  'listTokens',
  'listCertificates',
  'listDeniedCalls',
  'listLeases',
  'listLeasePools',
  'leaseUsage',
  'listLeaseDenials',
  'listDeliveries',
  'countRetriableDeliveries',
  'countRecentDeliveries',
  'listFilesToReissue',
  'listAudit',
  'listAuditActions',
  'exportAudit',
  'overview',
  'overviewTrend',
  'stats',
]);

interface Needs {
  config: Config;
  /** Null on SQLite, where there is no replica. */
  watch: PostgresWatch | null;
  serverId(): string | null;
  alerts: Pick<AlertBoard, 'raise' | 'clear'>;
  logger: Logger;
}

export interface ListReplica {
  /** Call it for every change: lists that begin later show it. */
  noteChange(): void;
  readLists: NonNullable<MountOptions['readLists']>;
  /** For the list of servers. */
  report(): Pick<ServerReport, 'replica' | 'replicaLagMs'>;
  /** Call it once this server reports to the list of servers. */
  start(): void;
  end(): Promise<void>;
}

export function composeReplica({ config, watch, serverId, alerts, logger }: Needs): ListReplica {
  const url = watch && readReplicaUrl(config);
  let replica: Replica | null = null;

  function onState(problem: ReplicaProblem | null): void {
    if (problem === null) {
      logger.info('lists are read from the replica');
      alerts.clear('replica_unused');
    } else {
      logger.warn({ problem }, `lists are not read from the replica: ${REPLICA_MESSAGES[problem]}`);
      alerts.raise('replica_unused', { params: { problem } });
    }
  }

  return {
    noteChange: () => replica?.noteChange(),
    async readLists(endpoint, work) {
      if (!replica || !LISTS.has(endpoint)) return work();
      const source = replica.source();
      try {
        await readListsFrom(source, work);
      } finally {
        source.end();
      }
    },
    report() {
      if (!replica) return { replica: null, replicaLagMs: null };
      const { problem, lagMs } = replica.status();
      return { replica: problem === undefined ? 'checking' : (problem ?? 'in_use'), replicaLagMs: lagMs };
    },
    start() {
      if (!watch || url === null) return;
      const maxLagMs = config.replicaMaxLagSeconds * 1000;
      replica = followReplica({ url, primary: watch, serverId, schema: SCHEMA, maxLagMs, onState });
    },
    end: async () => replica?.end(),
  };
}
