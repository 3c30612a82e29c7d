// The construction of what says who may use a product: authorizations, their explanation, tokens.
import { hasFreeSeat } from './activations/activation-rules.ts';
import type { Audit } from './audit/audit-service.ts';
import { createAuthorizationExplanation } from './authorization-tokens/authorization-explanation.ts';
import { createAuthorizationLookupStore } from './authorization-tokens/authorization-lookup-store.ts';
import { createAuthorizationService } from './authorization-tokens/authorization-service.ts';
import {
  authorizationAdminRoutes,
  authorizationRoutes,
  authorizationTokenAdminRoutes,
} from './authorization-tokens/authorization-token-routes.ts';
import { createAuthorizationTokenService } from './authorization-tokens/authorization-token-service.ts';
import { createAuthorizationTokenStore } from './authorization-tokens/authorization-token-store.ts';
import { createAuthorizationUsage } from './authorization-tokens/authorization-usage.ts';
import { createAuthorizationUsageStore } from './authorization-tokens/authorization-usage-store.ts';
import type { Database } from './database/connect.ts';
import type { RunTransaction } from './database/transaction.ts';
import { licenseState } from './licenses/license-lifecycle.ts';
import { byKey, byRef, licenseNotFound } from './licenses/license-reference.ts';
import type { LicenseStore } from './licenses/license-store.ts';
import type { Clock } from './platform/clock.ts';
import type { Logger } from './platform/logger.ts';

interface Needs {
  licenses: LicenseStore;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  logger: Logger;
  defaultProduct: string;
}

export function composeAuthorizations(sequelize: Database, { logger, ...needs }: Needs) {
  const lookup = createAuthorizationLookupStore(sequelize);
  const usage = createAuthorizationUsage({
    ...needs,
    store: createAuthorizationUsageStore(sequelize),
    onError: (error) =>
      logger.error({ err: error as Error }, 'authorization counts could not be written yet'),
  });
  const authorizations = createAuthorizationService({
    ...needs,
    lookup,
    usage,
    byKey,
    licenseNotFound,
    licenseState,
  });
  const explain = createAuthorizationExplanation({ ...needs, lookup, byRef, licenseNotFound, hasFreeSeat });
  const tokens = createAuthorizationTokenService({
    ...needs,
    tokens: createAuthorizationTokenStore(sequelize),
    byRef,
    licenseNotFound,
  });
  return {
    usage,
    publicRoutes: authorizationRoutes(authorizations),
    adminRoutes: [...authorizationAdminRoutes(explain), ...authorizationTokenAdminRoutes(tokens)],
  };
}
