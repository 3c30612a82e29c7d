// Makes one of the servers on a PostgreSQL database the leader: the one whose watch connection holds an advisory lock.
import type { Leadership } from '#server/platform/leadership.ts';
import { type PostgresWatch, WATCH_IDLE_MS } from './postgres-watch.ts';

/** An arbitrary number that nothing else locks. */
const LOCK = 8_787_002;

const TRY = `SELECT pg_try_advisory_lock(${LOCK}) AS "isMine"`;
const GIVE_UP = `SELECT pg_advisory_unlock(${LOCK})`;

export interface LeaderLock {
  /** Leaves the leadership to another server, for good. */
  giveUp(): Promise<void>;
}

/** @param mayLead asked with each reading */
export function followLeaderLock(
  watch: Pick<PostgresWatch, 'onReading' | 'onLost' | 'query'>,
  leadership: Leadership,
  mayLead: () => boolean,
): LeaderLock {
  let holds = false;
  let isTrying = false;
  let hasGivenUp = false;

  function end(): void {
    holds = false;
    leadership.hold(0);
  }

  async function tryLock(askedAt: number): Promise<void> {
    isTrying = true;
    try {
      const [row] = await watch.query<{ isMine: boolean }>(TRY);
      // Only one try at a time: the lock would have to be given up as often as it was taken.
      if (row?.isMine && hasGivenUp) await watch.query(GIVE_UP);
      else if (row?.isMine) {
        holds = true;
        leadership.hold(askedAt + WATCH_IDLE_MS);
      }
    } catch {
      // The next reading tries again.
    } finally {
      isTrying = false;
    }
  }

  async function release(): Promise<void> {
    end();
    await watch.query(GIVE_UP).catch(() => {});
  }

  watch.onLost(end);
  watch.onReading(({ askedAt }) => {
    // PostgreSQL was asked at that time, so it keeps the connection, and with it the lock, until the idle timeout.
    if (holds && !mayLead()) void release();
    else if (holds) leadership.hold(askedAt + WATCH_IDLE_MS);
    else if (!isTrying && !hasGivenUp && mayLead()) void tryLock(askedAt);
  });

  return {
    async giveUp() {
      hasGivenUp = true;
      if (holds) await release();
    },
  };
}
