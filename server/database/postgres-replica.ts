// Follows a streaming replica of the database, and reads lists from it while it is near enough.
import { setTimeout as delay } from 'node:timers/promises';
import type { Sequelize } from 'sequelize';
import { preciseMonotonicMs } from '#server/platform/shared-time.ts';
import { freshFlight, singleFlight } from '#server/platform/single-flight.ts';
import { createPostgresPool } from './connect.ts';
import type { ListSource } from './list-source.ts';
import { queryPostgres } from './postgres-statements.ts';
import { type PostgresWatch, watchPostgres } from './postgres-watch.ts';
import { findReplicaProblem, type ReplicaProblem } from './replica-state.ts';

/** A list waits this long for the replica to apply what has been committed, which usually takes a millisecond or two. */
const APPLY_MS = 100;
const APPLY_LOOK_MS = 5;

/** Up to here, the write-ahead log contains what has been committed. */
const COMMITTED = `SELECT CAST(pg_current_wal_flush_lsn() - '0/0' AS DOUBLE PRECISION) AS "position"`;

const APPLIED = `
  SELECT CASE WHEN pg_is_in_recovery()
    THEN CAST(pg_last_wal_replay_lsn() - '0/0' AS DOUBLE PRECISION) END AS "position"`;

/** When the last transaction was committed that the replica has applied, by the clock of the database. */
const REPORTED = `
  SELECT (SELECT last_seen_at FROM servers WHERE id = $1) AS "at",
    CAST(pg_last_wal_replay_lsn() - '0/0' AS DOUBLE PRECISION) AS "position",
    CAST(extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000 AS DOUBLE PRECISION) AS "committedAt"`;

const NOW = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS DOUBLE PRECISION) AS "now"';

interface Needs {
  url: string;
  /** Of the database itself. */
  primary: Pick<PostgresWatch, 'query' | 'onLost'>;
  /** Under which this server reports to the list of servers every two seconds; null before and after. */
  serverId(): string | null;
  /** The migration that the replica must have applied. */
  schema: string;
  maxLagMs: number;
  /** Called when it changes. @param problem null while lists are read from the replica */
  onState(problem: ReplicaProblem | null): void;
}

export interface ReplicaStatus {
  /** Null while lists are read from the replica; undefined while it is not known whether they can be. */
  problem: ReplicaProblem | null | undefined;
  /** Null if it is not known. */
  lagMs: number | null;
}

interface Reported {
  at: number | null;
  position: number | null;
  committedAt: number | null;
}

/** @param end the end of the log before the replica was asked. @param now the time afterwards */
function lagOf({ position, committedAt }: Reported, end: number, now: number): number | null {
  if (position !== null && position >= end) return 0;
  return committedAt === null ? null : Math.max(0, Math.round(now - committedAt));
}

export interface Replica {
  /** Call it for every change: lists that begin later show it. */
  noteChange(): void;
  /** For one call. What the call has started and left behind reads the database itself after the end. */
  source(): ListSource & { end(): void };
  /** As of the last look. */
  status(): ReplicaStatus;
  end(): Promise<void>;
}

export function followReplica(needs: Needs): Replica {
  const { primary, maxLagMs } = needs;
  let pool: Sequelize | null = null;
  let watch: PostgresWatch | null = null;
  let isEnding = false;
  let isUsable = false;
  let shown: ReplicaProblem | null | undefined;
  /** Until then, a replica that is behind may only have had no time yet. */
  let graceUntil = preciseMonotonicMs() + maxLagMs;
  /** The replica shows everything that was committed before this moment. */
  let freshAt = -Infinity;
  let lagMs: number | null = null;
  /** By the clock of the database; null if it is not known since when the present connection exists. */
  let connectedAt: number | null = null;
  /** Counts changes that lists must show. */
  let changes = 0;
  /** All changes up to this one were committed up to `requiredPosition`. */
  let covered = 0;
  let requiredPosition = 0;

  const isFresh = () => preciseMonotonicMs() - freshAt <= maxLagMs;

  function note(problem: ReplicaProblem | null): void {
    isUsable = problem === null && !isEnding;
    if (problem !== null && problem !== 'behind') lagMs = null;
    if (isEnding || problem === shown) return;
    if (problem === 'behind' && preciseMonotonicMs() < graceUntil) return;
    shown = problem;
    needs.onState(problem);
  }

  // The address may belong to a promoted replica from now on. What this server reports there shows which database the
  // replica follows; positions in the log do not.
  primary.onLost(() => {
    connectedAt = null;
    freshAt = -Infinity;
    graceUntil = preciseMonotonicMs() + maxLagMs;
  });

  /** @returns undefined if the database itself does not answer, which says nothing about the replica */
  async function judge(followed: PostgresWatch): Promise<ReplicaProblem | null | undefined> {
    const id = needs.serverId();
    if (id === null) return undefined;
    let isPrimaryLost = false;
    const askPrimary: PostgresWatch['query'] = async (text, values) => {
      try {
        return await primary.query(text, values);
      } catch (error) {
        isPrimaryLost = true;
        throw error;
      }
    };
    try {
      const problem = await findReplicaProblem(
        { primary: askPrimary, replica: followed.query },
        needs.schema,
      );
      if (problem !== null) return problem;
      const [end] = await askPrimary<{ position: number }>(COMMITTED);
      const [reported] = await followed.query<Reported>(REPORTED, [id]);
      const askedAt = preciseMonotonicMs();
      const [clock] = await askPrimary<{ now: number }>(NOW);
      const now = clock?.now ?? Infinity;
      connectedAt ??= now;
      const at = reported?.at ?? -Infinity;
      lagMs = reported && end ? lagOf(reported, end.position, now) : null;
      // A report from the future was made before the clock of the database was set back.
      freshAt = at > connectedAt ? askedAt - Math.abs(now - at) : -Infinity;
      return isFresh() ? null : 'behind';
    } catch {
      return isPrimaryLost ? undefined : 'unreachable';
    }
  }

  const look = singleFlight(async (followed: PostgresWatch) => {
    const found = await judge(followed);
    if (found !== undefined) note(found);
  });

  async function open(): Promise<void> {
    const opened = await createPostgresPool(needs.url);
    pool = opened;
    const followed = await watchPostgres(opened, { isReplica: true });
    watch = followed;
    followed.onLost(() => note('unreachable'));
    followed.onReading(() => void look(followed));
    try {
      followed.check();
    } catch {
      note('unreachable');
    }
  }
  // A certificate that the URL names may be missing, for example.
  const opening = open().catch(() => note('unreachable'));

  const committed = freshFlight(() => primary.query<{ position: number }>(COMMITTED));

  /**
   * Whether the replica shows all that was committed before this call or, if it is too slow for that, at least every change
   * that this server knows of.
   */
  async function hasApplied(followed: PostgresWatch): Promise<boolean> {
    const asked = changes;
    const [end] = await committed();
    if (!end) return false;
    if (asked > covered) {
      covered = asked;
      requiredPosition = end.position;
    }
    const until = performance.now() + APPLY_MS;
    for (;;) {
      const [applied] = await followed.query<{ position: number | null }>(APPLIED);
      // Null for a replica that was promoted.
      const position = applied?.position ?? -1;
      if (position >= end.position) return true;
      if (position < 0) return false;
      if (performance.now() >= until) return position >= requiredPosition && covered >= changes;
      await delay(APPLY_LOOK_MS);
    }
  }

  return {
    noteChange() {
      changes += 1;
    },
    source() {
      let applied: Promise<boolean> | undefined;
      let isOver = false;
      return {
        async rows(query) {
          if (isOver || !pool || !watch || !isUsable || !isFresh()) return null;
          try {
            applied ??= hasApplied(watch);
            return (await applied) ? (await queryPostgres(pool, query, false)).rows : null;
          } catch {
            // The database itself may answer: the replica has gone, or has canceled the statement to apply a change.
            isOver = true;
            return null;
          }
        },
        end() {
          isOver = true;
        },
      };
    },
    status: () => ({ problem: shown, lagMs }),
    async end() {
      isEnding = true;
      isUsable = false;
      await opening;
      await watch?.end();
      await pool?.close();
    },
  };
}
