// One run of a job in a worker thread with a separate database connection. The leader runs it for all servers.
import { parentPort } from 'node:worker_threads';
import { connect, type Database, type DatabaseLocation } from '#server/database/connect.ts';
import { isAhead } from '#server/platform/clock-guard.ts';
import { leaderIn } from '#server/platform/leadership.ts';
import { sharedClock } from '#server/platform/shared-time.ts';
import { reportingGuard } from './worker-guard.ts';

export interface LeaderRunData {
  location: DatabaseLocation;
  /** The clock guard's shared offset. */
  trustedOffset: SharedArrayBuffer;
  /** The buffer of the time that servers share; null for the clock of this machine. */
  sharedTime: SharedArrayBuffer | null;
  /** The buffer of the leadership. */
  leadership: SharedArrayBuffer;
}

export function leaderRun({ location, trustedOffset, sharedTime, leadership }: LeaderRunData) {
  const trusted = new Float64Array(trustedOffset);
  let cancelled = false;
  parentPort?.on('message', (message) => {
    if (message === 'cancel') cancelled = true;
  });
  return {
    clock: sharedClock(sharedTime),
    isLeader: leaderIn(leadership).isLeader,
    isTrusted: (now: number): boolean => !isAhead(now, trusted[0] ?? 0),
    isCancelled: (): boolean => cancelled,
    /** Posts the result and how long it took, and ends the thread. */
    async run(work: (sequelize: Database) => Promise<object>): Promise<void> {
      const startedAt = performance.now();
      const sequelize = await connect(location, { guard: reportingGuard(parentPort) });
      try {
        const result = await work(sequelize);
        parentPort?.postMessage({ ...result, ms: Math.round(performance.now() - startedAt) });
      } finally {
        await sequelize.close();
        // Nothing keeps the thread alive after this.
        parentPort?.close();
      }
    },
  };
}
