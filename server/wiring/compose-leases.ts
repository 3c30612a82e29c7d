// Wires floating licenses: leases, their pools, denials and usage.
import type { Audit } from '#server/features/audit/audit-service.ts';
import { adminContract, publicContract } from '#server/contract.ts';
import { watchRows } from '#server/database/changed-rows.ts';
import type { Database } from '#server/database/connect.ts';
import { createFactVersions } from '#server/database/fact-cache.ts';
import { createTurns } from '#server/database/turns.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Events } from '#server/features/events/event-service.ts';
import { createCheckoutExplanation } from '#server/features/leases/checkout-explanation.ts';
import { createCheckoutForecast } from '#server/features/leases/checkout-forecast.ts';
import { createCheckoutService } from '#server/features/leases/checkout-service.ts';
import { createDenialLog } from '#server/features/leases/denial-log.ts';
import { createHeartbeatBuffer } from '#server/features/leases/heartbeat-buffer.ts';
import { createHeartbeatService } from '#server/features/leases/heartbeat-service.ts';
import { createLeaseAdminService } from '#server/features/leases/lease-admin-service.ts';
import { createLeaseCallLimit } from '#server/features/leases/lease-call-limit.ts';
import { createLeaseClock } from '#server/features/leases/lease-clock.ts';
import { createLeaseClockStore } from '#server/features/leases/lease-clock-store.ts';
import { createLeaseDenialStore } from '#server/features/leases/lease-denial-store.ts';
import { createLeaseEndings } from '#server/features/leases/lease-endings.ts';
import { createLeaseGrants } from '#server/features/leases/lease-grants.ts';
import { createLeaseFileStore } from '#server/features/leases/lease-file-store.ts';
import { createLeaseFiles } from '#server/features/leases/lease-files.ts';
import type { LeaseJudge } from '#server/features/leases/lease-judge.ts';
import { createLeaseListStore } from '#server/features/leases/lease-list-store.ts';
import { createLeaseLookup } from '#server/features/leases/lease-lookup.ts';
import {
  createLeaseLookupStore,
  LEASE_LICENSE_SOURCES,
  LEASE_SOURCES,
} from '#server/features/leases/lease-lookup-store.ts';
import { leaseAdminRoutes, leaseExplainRoutes, leaseRoutes } from '#server/features/leases/lease-routes.ts';
import { createLeaseStore } from '#server/features/leases/lease-store.ts';
import { createLeaseUpkeep } from '#server/features/leases/lease-upkeep.ts';
import { createLeaseUsageStore } from '#server/features/leases/lease-usage-store.ts';
import { createPoolListService } from '#server/features/leases/pool-list-service.ts';
import { createPoolListStore } from '#server/features/leases/pool-list-store.ts';
import { createPoolStore } from '#server/features/leases/pool-store.ts';
import { createReleaseService } from '#server/features/leases/release-service.ts';
import { createSeatClaims } from '#server/features/leases/seat-claims.ts';
import { createSeatOverdraft } from '#server/features/leases/seat-overdraft.ts';
import { createSeatPools } from '#server/features/leases/seat-pools.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { LicenseFiles } from '#server/features/signing/license-file-service.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { SharedCounts } from '#server/platform/shared-counts.ts';

interface Needs {
  licenses: LicenseStore;
  files: LicenseFiles;
  audit: Audit;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  logger: Logger;
  /** Decides by rules who may take a seat. */
  judge: LeaseJudge;
  /** Whether calls are limited per license key and lease. */
  limited: boolean;
  sharedCounts: SharedCounts;
  isClockTrusted(): boolean;
  /** Without jumps that are not trusted. */
  steadyClock: Clock;
  /** Called after leases have changed. */
  onChanged(): void;
  /** Call it for every change: lists that begin later show it. */
  noteChange(): void;
}

async function composeLookup(sequelize: Database) {
  const versions = { leases: createFactVersions(), licenses: createFactVersions() };
  const seesEveryChange =
    (await watchRows(sequelize, LEASE_SOURCES, versions.leases)) &&
    (await watchRows(sequelize, LEASE_LICENSE_SOURCES, versions.licenses));
  const store = createLeaseLookupStore(sequelize);
  return createLeaseLookup({ store, versions: seesEveryChange ? versions : null });
}

export async function composeLeases(sequelize: Database, { logger, judge, ...needs }: Needs) {
  const cannot = (what: string) => (error: unknown) =>
    logger.error({ err: error as Error }, `cannot ${what}; retrying`);
  const leases = createLeaseStore(sequelize);
  const poolStore = createPoolStore(sequelize);
  const usage = createLeaseUsageStore(sequelize);
  const denialStore = createLeaseDenialStore(sequelize);
  const leaseClock = createLeaseClock({ ...needs, store: createLeaseClockStore(sequelize) });
  const shared = { ...needs, leases, leaseClock, usage, takeTurn: createTurns(sequelize) };
  const pools = createSeatPools({ ...shared, pools: poolStore, judge });
  const claims = createSeatClaims({ leases, pools });
  const limit = createLeaseCallLimit(needs.limited, needs.clock, needs.sharedCounts);
  const endings = createLeaseEndings({ ...shared, pools, limit });
  const buffer = createHeartbeatBuffer({
    ...shared,
    onWritten: needs.noteChange,
    onError: cannot('write heartbeats'),
  });
  const denials = createDenialLog({
    ...shared,
    store: denialStore,
    pools: poolStore,
    onError: cannot('write lease denials'),
  });
  const files = createLeaseFiles({ ...needs, records: createLeaseFileStore(sequelize) });
  const forecast = createCheckoutForecast({ leases, pools, claims, endings });
  const overdraftOf = createSeatOverdraft({ leases });
  const grants = createLeaseGrants({ ...shared, pools, overdraftOf });
  const checkouts = createCheckoutService({
    ...shared,
    grants,
    pools,
    claims,
    endings,
    files,
    denials,
    limit,
  });
  const heartbeats = createHeartbeatService({
    ...shared,
    lookup: await composeLookup(sequelize),
    pools,
    overdraftOf,
    endings,
    buffer,
    limit,
  });
  const releases = createReleaseService({
    ...shared,
    licenseFiles: needs.files,
    pools,
    endings,
    files,
    denials,
    limit,
  });
  const administration = createLeaseAdminService({
    ...shared,
    list: createLeaseListStore(sequelize),
    denials: denialStore,
    denialLog: denials,
    pools,
    endings,
  });
  const poolListStore = createPoolListStore(sequelize);
  const poolList = createPoolListService({ ...shared, pools, list: poolListStore });
  const upkeep = createLeaseUpkeep({
    ...shared,
    poolStore,
    pools,
    buffer,
    onError: cannot('maintain leases'),
  });
  return {
    publicRoutes: [
      ...leaseRoutes({ checkouts, heartbeats, releases }),
      ...leaseAdminRoutes(publicContract, administration, poolList),
    ],
    adminRoutes: [
      ...leaseAdminRoutes(adminContract, administration, poolList),
      ...leaseExplainRoutes(createCheckoutExplanation({ ...shared, pools, forecast })),
    ],
    poolList: poolListStore,
    poolOf: async (license: License) => pools.toObject(await pools.look(license)),
    forecast,
    /** Starts the upkeep, for a server. A command makes its change and leaves. */
    start: upkeep.start,
    noteSeatsChanged: upkeep.noteSeatsChanged,
    async close() {
      await upkeep.close();
      await buffer.close();
      await denials.close();
    },
  };
}
