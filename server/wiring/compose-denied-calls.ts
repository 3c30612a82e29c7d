// Wires denied calls: the log that other services write to, and its list.
import { createDeniedCallLog } from '#server/features/denied-calls/denied-call-log.ts';
import { deniedCallAdminRoutes } from '#server/features/denied-calls/denied-call-routes.ts';
import { createDeniedCallService } from '#server/features/denied-calls/denied-call-service.ts';
import { createDeniedCallStore } from '#server/features/denied-calls/denied-call-store.ts';
import type { Database } from '#server/database/connect.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Logger } from '#server/platform/logger.ts';

interface Needs {
  licenses: LicenseStore;
  transaction: RunTransaction;
  clock: Clock;
  logger: Logger;
  onChanged(): void;
}

export function composeDeniedCalls(sequelize: Database, { logger, ...needs }: Needs) {
  const store = createDeniedCallStore(sequelize);
  const log = createDeniedCallLog({
    ...needs,
    store,
    onError: (error) => logger.error({ err: error as Error }, 'cannot write denied calls; retrying'),
  });
  const denials = createDeniedCallService({ ...needs, store, log });
  return { log, countToday: denials.countToday, adminRoutes: deniedCallAdminRoutes(denials) };
}
