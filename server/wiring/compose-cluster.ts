// Wires what servers on one database need of each other: a common clock, messages, a leader, and a list of them.
import { hostname } from 'node:os';
import { watchClockSkew } from '#server/features/alerts/clock-skew-alert.ts';
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { LiveTopic } from '#server/features/live/live-contract.ts';
import type { LiveStreams } from '#server/features/live/live-streams.ts';
import { createCrlSpread, type CrlSpread } from '#server/features/servers/crl-spread.ts';
import { createServerAlerts } from '#server/features/servers/server-alerts.ts';
import { createServerRegistry, type ServerRegistry } from '#server/features/servers/server-registry.ts';
import { createServerStore } from '#server/features/servers/server-store.ts';
import { followLeaderLock, type LeaderLock } from '#server/database/leader-lock.ts';
import { SCHEMA } from '#server/database/migrate.ts';
import type { PostgresWatch } from '#server/database/postgres-watch.ts';
import type { ControlledGuard } from '#server/database/storage-guard.ts';
import { VERSION } from '#server/installation/version.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config.ts';
import type { Leadership } from '#server/platform/leadership.ts';
import type { Logger } from '#server/platform/logger.ts';
import { createSharedCounts, OWN_COUNTS, type SharedCounts } from '#server/platform/shared-counts.ts';
import type { SharedTime } from '#server/platform/shared-time.ts';
import { composeReplica, type ListReplica } from './compose-replica.ts';
import { createServerMessages, type ServerMessages } from './server-messages.ts';

interface Environment {
  config: Config;
  sharedTime: SharedTime | null;
  leadership: Leadership;
  guard: Pick<ControlledGuard, 'isOutdated'>;
  isDraining(): boolean;
  clock: Clock;
  logger: Logger;
}

interface Needs {
  /** Null for a server that shares its database with no other. */
  watch: PostgresWatch | null;
  alerts: Pick<AlertBoard, 'raise' | 'clear'>;
  isReady(): boolean;
  servedList(): number | null;
  takeOverList(): Promise<void>;
  onChanged(): void;
}

export interface Cluster {
  messages: ServerMessages;
  /** Whether the clock of this machine is near enough to the clock of the database. */
  isClockNear(): boolean;
  servers: ServerRegistry;
  /** How many other servers use the database, except lost ones. */
  countOthers(): Promise<number>;
  crlSpread: CrlSpread;
  sharedCounts: SharedCounts;
  /** Call it for every change: lists that begin later show it. */
  noteChange: ListReplica['noteChange'];
  readLists: ListReplica['readLists'];
  /** Call it once the server accepts requests. @param address of its API listener */
  join(address: string): void;
  /** Call it at the end, when the jobs have stopped. */
  leave(): Promise<void>;
}

/** A database that does not answer must not delay the end of a server for longer. */
const LEAVE_WITHIN_MS = 1000;

/** What no list shows that a replica may answer. */
const NOT_LISTED: ReadonlySet<LiveTopic> = new Set<LiveTopic>(['servers', 'alerts', 'health']);

export function composeCluster(around: Environment, needs: Needs): Cluster {
  const { config, sharedTime, leadership, guard, clock, logger } = around;
  const { watch, alerts } = needs;
  const skew = watchClockSkew(() => sharedTime?.skewMs() ?? 0, alerts);
  let databaseMs = 0;
  let lock: LeaderLock | null = null;
  watch?.onReading(({ tookMs }) => {
    databaseMs = tookMs;
    skew.check();
  });
  const servers = createServerRegistry({
    store: watch && createServerStore(watch),
    self: { name: hostname(), version: VERSION, schemaName: SCHEMA },
    current: () => ({
      state: around.isDraining() ? 'draining' : needs.isReady() ? 'ready' : 'not_ready',
      isLeader: leadership.isLeader(),
      clockSkewMs: Math.round(sharedTime?.skewMs() ?? 0),
      databaseMs: Math.round(databaseMs),
      crlNumber: needs.servedList(),
      ...replica.report(),
    }),
    clock,
    alerts: createServerAlerts({ alerts, logger }),
    onChanged: needs.onChanged,
    onOlderCrl: () => void needs.takeOverList().catch(() => {}),
  });
  const messages = createServerMessages(watch);
  const crlSpread = createCrlSpread({
    behind: servers.behind,
    announce: () => messages.tell({ crlBuilt: true }),
  });
  messages.listen(({ crlBuilt, crlServed }) => {
    if (crlServed) crlSpread.noteConfirmed();
    if (crlBuilt) void confirmCrl().catch(() => {});
  });
  const replica = composeReplica({ config, watch, serverId: servers.ownId, alerts, logger });
  leadership.onChange((isLeader) => {
    logger.info(isLeader ? 'this server is the leader now' : 'this server is no longer the leader');
    void servers.report();
  });

  /** The server that has built the CRL waits for this. */
  async function confirmCrl(): Promise<void> {
    await needs.takeOverList();
    await servers.report();
    messages.tell({ crlServed: true });
  }

  async function leave(): Promise<void> {
    await lock?.giveUp();
    await servers.leave();
    await replica.end();
  }

  return {
    messages,
    crlSpread,
    sharedCounts: watch
      ? createSharedCounts({
          tell: messages.tellCounts,
          listen: (listener) => messages.listen(({ counts }) => listener(counts)),
        })
      : OWN_COUNTS,
    noteChange: replica.noteChange,
    readLists: replica.readLists,
    isClockNear: skew.isBearable,
    servers,
    async countOthers() {
      const { items } = await servers.list();
      return items.filter(({ current, state }) => !current && state !== 'lost').length;
    },
    join(address) {
      if (watch) lock = followLeaderLock(watch, leadership, () => !guard.isOutdated());
      servers.join(address);
      replica.start();
    },
    leave: () =>
      Promise.race([
        leave(),
        new Promise<void>((resolve) => void setTimeout(resolve, LEAVE_WITHIN_MS).unref()),
      ]),
  };
}

/** Tells the listeners of all servers on the database what this one has changed, and ends sessions on all. */
export function publishEverywhere(
  live: LiveStreams,
  { messages, noteChange }: Pick<Cluster, 'messages' | 'noteChange'>,
): LiveStreams {
  // Before any page learns of a change and loads its lists again.
  live.listen((topics) => {
    if (topics.some((topic) => !NOT_LISTED.has(topic))) noteChange();
  });
  messages.listen(({ topics, endedSessions }) => {
    live.publish(topics);
    for (const id of endedSessions) live.endSession(id);
  });
  return {
    ...live,
    publish(topics) {
      const changed = [...topics];
      live.publish(changed);
      if (changed.length > 0) messages.tell({ topics: changed });
    },
    endSession(sessionId) {
      live.endSession(sessionId);
      messages.tell({ endedSessions: [sessionId] });
    },
  };
}
