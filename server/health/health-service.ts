import type { Clock } from '../platform/clock.ts';
import type { ReplyOf } from '../platform/endpoint.ts';
import { ApiError } from '../platform/errors.ts';
import { toTimestamp } from '../platform/fields.ts';
import type { healthContract } from './health-contract.ts';

interface Needs {
  clock: Clock;
  version: string;
  /** Rejects if the database does not answer. */
  pingDatabase(): Promise<unknown>;
  /** Whether the jobs run as they should. */
  jobsAreFine(): boolean;
}

export function createHealthService({ clock, version, pingDatabase, jobsAreFine }: Needs) {
  const startedAt = process.hrtime.bigint();
  return {
    /** @throws ApiError `unavailable`, saying what fails */
    async check(): Promise<ReplyOf<typeof healthContract.health>> {
      const database = await pingDatabase().then(
        () => 'ok' as const,
        () => 'failing' as const,
      );
      const jobs = jobsAreFine() ? 'ok' : 'failing';
      const failing = Object.entries({ database, jobs }).filter(([, state]) => state !== 'ok');
      if (failing.length > 0) {
        throw new ApiError('unavailable', `failing: ${failing.map(([name]) => name).join(', ')}`, {
          details: failing.map(([path]) => ({ path: `checks.${path}`, message: 'failing' })),
        });
      }
      return {
        status: 'ok',
        version,
        time: toTimestamp(clock.now()),
        uptime_seconds: Number((process.hrtime.bigint() - startedAt) / 1_000_000n) / 1000,
        checks: { database, jobs },
      };
    },
  };
}

export type HealthService = ReturnType<typeof createHealthService>;
