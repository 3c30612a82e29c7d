import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { StorageService } from '#server/features/storage/storage-service.ts';
import type { healthContract } from './health-contract.ts';

type Check = 'ok' | 'failing';

interface Needs {
  clock: Clock;
  version: string;
  /** Rejects if the database does not answer. */
  pingDatabase(): Promise<unknown>;
  /** Whether the jobs are running normally. */
  jobsAreFine(): boolean;
  storage(): Pick<StorageService, 'check' | 'known' | 'isBroken'>;
  /** Whether the system clock can be trusted. */
  isClockTrusted(): boolean;
  /** Whether the server is starting or stopping. */
  isDraining(): boolean;
}

/** @throws ApiError `unavailable` if one of the checks is failing */
function requireAll(checks: Readonly<Record<string, Check>>, message: string, fields?: object): void {
  const failing = Object.keys(checks).filter((name) => checks[name] !== 'ok');
  if (failing.length === 0) return;
  throw new ApiError('unavailable', `${message}: ${failing.join(', ')}`, {
    details: failing.map((name) => ({ path: `checks.${name}`, message: 'failing' })),
    ...(fields ? { fields } : {}),
  });
}

const toCheck = (isFine: boolean): Check => (isFine ? 'ok' : 'failing');

export function createHealthService(needs: Needs) {
  const { clock, version } = needs;
  const startedAt = process.hrtime.bigint();

  const answers = (): Promise<boolean> =>
    needs.pingDatabase().then(
      () => true,
      () => false,
    );

  async function canRead(): Promise<boolean> {
    return !needs.storage().isBroken() && answers();
  }

  return {
    /** @throws ApiError `unavailable` that names the failing parts */
    async check(): Promise<ReplyOf<typeof healthContract.health>> {
      const checks = { database: toCheck(await canRead()), jobs: toCheck(needs.jobsAreFine()) };
      requireAll(checks, 'failing');
      return {
        status: 'ok',
        version,
        time: toTimestamp(clock.now()),
        uptime_seconds: Number((process.hrtime.bigint() - startedAt) / 1_000_000n) / 1000,
        checks,
      };
    },
    /** For operators. @throws ApiError `unavailable` that names the first failing part */
    async checkAll(): Promise<void> {
      await this.check();
      requireAll({ ...needs.storage().known(), clock: toCheck(needs.isClockTrusted()) }, 'failing');
    },
    /** Whether it can accept requests, as far as is known. */
    isReady: (): boolean =>
      needs.isClockTrusted() && Object.values(needs.storage().known()).every((check) => check === 'ok'),
    /** Ignores jobs: a server with stuck webhooks still serves its clients. @throws ApiError `unavailable` */
    async ready(): Promise<ReplyOf<typeof healthContract.healthReady>> {
      const parts = await needs.storage().check(await answers());
      const checks = {
        ...parts,
        clock: toCheck(needs.isClockTrusted()),
        draining: toCheck(!needs.isDraining()),
      };
      requireAll(checks, 'not ready', { status: 'not_ready', checks });
      return { status: 'ready', checks };
    },
  };
}

export type HealthService = ReturnType<typeof createHealthService>;
