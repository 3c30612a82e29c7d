// Wires authorization: checks, their explanation, tokens.
import type { Audit } from '#server/features/audit/audit-service.ts';
import { createAuthorizationExplanation } from '#server/features/authorization-tokens/authorization-explanation.ts';
import { createAuthorizationLookup } from '#server/features/authorization-tokens/authorization-lookup.ts';
import {
  AUTHORIZATION_SOURCES,
  createAuthorizationLookupStore,
} from '#server/features/authorization-tokens/authorization-lookup-store.ts';
import { createAuthorizationService } from '#server/features/authorization-tokens/authorization-service.ts';
import {
  authorizationAdminRoutes,
  authorizationRoutes,
  authorizationTokenAdminRoutes,
} from '#server/features/authorization-tokens/authorization-token-routes.ts';
import { createAuthorizationTokenService } from '#server/features/authorization-tokens/authorization-token-service.ts';
import { createAuthorizationTokenStore } from '#server/features/authorization-tokens/authorization-token-store.ts';
import { createAuthorizationUsage } from '#server/features/authorization-tokens/authorization-usage.ts';
import { createAuthorizationUsageStore } from '#server/features/authorization-tokens/authorization-usage-store.ts';
import { createFactVersions } from '#server/database/fact-cache.ts';
import { watchRows } from '#server/database/changed-rows.ts';
import type { DeniedCallLog } from '#server/features/denied-calls/denied-call-log.ts';
import type { DeviceSightings } from '#server/features/activations/device-sightings.ts';
import type { Database } from '#server/database/connect.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { ChangeLicense } from '#server/features/licenses/license-change.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Logger } from '#server/platform/logger.ts';

interface Needs {
  licenses: LicenseStore;
  changeLicense: ChangeLicense;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  logger: Logger;
  denials: Pick<DeniedCallLog, 'record'>;
  sightings: Pick<DeviceSightings, 'note'>;
  defaultProduct: string;
  /** Call it for every change: lists that begin later show it. */
  noteChange(): void;
}

export async function composeAuthorizations(sequelize: Database, { logger, ...needs }: Needs) {
  const store = createAuthorizationLookupStore(sequelize);
  const versions = createFactVersions();
  const seesEveryChange = await watchRows(sequelize, AUTHORIZATION_SOURCES, versions);
  const tokenStore = createAuthorizationTokenStore(sequelize);
  const usage = createAuthorizationUsage({
    ...needs,
    store: createAuthorizationUsageStore(sequelize),
    touchTokens: tokenStore.touch,
    onWritten: needs.noteChange,
    onError: (error) => logger.error({ err: error as Error }, 'cannot write authorization counts; retrying'),
  });
  const authorizations = createAuthorizationService({
    ...needs,
    lookup: createAuthorizationLookup({ store, versions: seesEveryChange ? versions : null }),
    usage,
  });
  const explain = createAuthorizationExplanation({ ...needs, lookup: store });
  const tokens = createAuthorizationTokenService({
    ...needs,
    tokens: tokenStore,
  });
  return {
    usage,
    publicRoutes: authorizationRoutes(authorizations),
    adminRoutes: [...authorizationAdminRoutes(explain), ...authorizationTokenAdminRoutes(tokens)],
  };
}
