// Every construction, by hand: what the service is made of, and who is handed what.
import { join } from 'node:path';
import { activationAdminRoutes, activationRoutes } from './activations/activation-routes.ts';
import { createActivationService } from './activations/activation-service.ts';
import { createActivationStore } from './activations/activation-store.ts';
import { createOfflineValidationService } from './activations/offline-validation-service.ts';
import { adminSessionRoutes } from './admin-session/admin-session-routes.ts';
import {
  type AdminSessionService,
  createAdminSessionService,
} from './admin-session/admin-session-service.ts';
import { apiTokenAdminRoutes } from './api-tokens/api-token-routes.ts';
import { type ApiTokenService, createApiTokenService } from './api-tokens/api-token-service.ts';
import { createApiTokenStore } from './api-tokens/api-token-store.ts';
import { auditRoutes } from './audit/audit-routes.ts';
import { createAuditService } from './audit/audit-service.ts';
import { createAuditStore } from './audit/audit-store.ts';
import { createAuthorizationLookupStore } from './authorization-tokens/authorization-lookup-store.ts';
import { createAuthorizationService } from './authorization-tokens/authorization-service.ts';
import {
  authorizationRoutes,
  authorizationTokenAdminRoutes,
} from './authorization-tokens/authorization-token-routes.ts';
import { createAuthorizationTokenService } from './authorization-tokens/authorization-token-service.ts';
import { createAuthorizationTokenStore } from './authorization-tokens/authorization-token-store.ts';
import { createAuthorizationUsage } from './authorization-tokens/authorization-usage.ts';
import { createAuthorizationUsageStore } from './authorization-tokens/authorization-usage-store.ts';
import { adminContract, publicContract } from './contract.ts';
import { connect, type Database, type DatabaseLocation } from './database/connect.ts';
import { migrate } from './database/migrate.ts';
import { createTransactions } from './database/transaction.ts';
import { createEventService } from './events/event-service.ts';
import { createEventStore } from './events/event-store.ts';
import { healthRoutes } from './health/health-routes.ts';
import { createHealthService } from './health/health-service.ts';
import { createIdempotencyService } from './idempotency/idempotency-service.ts';
import { createIdempotentReplyStore } from './idempotency/idempotent-reply-store.ts';
import { LICENSE_STATES } from './licenses/license-contract.ts';
import { licenseState } from './licenses/license-lifecycle.ts';
import { toLicenseObject } from './licenses/license-presenter.ts';
import { LICENSE_STATE } from './licenses/license-query.ts';
import { byKey, byRef, licenseNotFound } from './licenses/license-reference.ts';
import { licenseAdminRoutes, licenseRoutes } from './licenses/license-routes.ts';
import { createLicenseService } from './licenses/license-service.ts';
import { createLicenseStore } from './licenses/license-store.ts';
import { planRoutes } from './plans/plan-routes.ts';
import { createPlanService } from './plans/plan-service.ts';
import { createPlanStore } from './plans/plan-store.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Logger } from './platform/logger.ts';
import { loadMasterKey } from './platform/master-key.ts';
import type { MountOptions } from './platform/mount.ts';
import type { Route } from './platform/route.ts';
import { createSealer } from './platform/sealer.ts';
import { createLicenseFiles } from './signing/license-file-service.ts';
import { createSigningKeyStore } from './signing/signing-key-store.ts';
import { signingAdminRoutes, signingRoutes } from './signing/signing-routes.ts';
import { createSigningService } from './signing/signing-service.ts';
import { statsRoutes } from './stats/stats-routes.ts';
import { createStatsService } from './stats/stats-service.ts';
import { createStatsStore } from './stats/stats-store.ts';
import { VERSION } from './version.ts';

export interface Surroundings {
  config: Config;
  clock: Clock;
  logger: Logger;
  runtimeSecret: string;
  jobsAreFine(): boolean;
  /** The back office with a one-time code. */
  signInAddress(code: string): string;
  adminPort(): number;
  apiBaseUrl(): string;
}

export interface Service {
  publicRoutes: Route[];
  adminRoutes: Route[];
  apiTokens: ApiTokenService;
  sessions: AdminSessionService;
  runOnce: NonNullable<MountOptions['runOnce']>;
  close(): Promise<void>;
}

export function databaseLocation(config: Config): DatabaseLocation {
  return { url: config.databaseUrl, file: join(config.dataDir, 'license-desk.db') };
}

export async function compose(around: Surroundings): Promise<Service> {
  const sequelize = await connect(databaseLocation(around.config));
  try {
    return await composeOver(sequelize, around);
  } catch (error) {
    await sequelize.close();
    throw error;
  }
}

async function composeOver(sequelize: Database, around: Surroundings): Promise<Service> {
  const { config, clock, logger } = around;
  const transaction = createTransactions(sequelize);
  await migrate(sequelize, transaction);
  const signingKeys = createSigningKeyStore(sequelize);
  const nothingSealed = (await signingKeys.list()).length === 0;
  const sealer = createSealer(loadMasterKey(config.dataDir, config.masterKey, nothingSealed));
  const { defaultProduct, licenseFileTtlDays: fileTtlDays } = config;

  const audit = createAuditService({ entries: createAuditStore(sequelize), clock });
  const events = createEventService({ events: createEventStore(sequelize), clock });
  const plans = createPlanStore(sequelize);
  const licenses = createLicenseStore(sequelize);
  const activations = createActivationStore(sequelize);

  const usage = createAuthorizationUsage({
    store: createAuthorizationUsageStore(sequelize),
    transaction,
    clock,
    onError: (error) =>
      logger.error({ err: error as Error }, 'authorization counts could not be written yet'),
  });
  const authorizations = createAuthorizationService({
    lookup: createAuthorizationLookupStore(sequelize),
    usage,
    clock,
    defaultProduct,
    byKey,
    licenseNotFound,
    licenseState,
  });

  const signing = await createSigningService({ keys: signingKeys, sealer, audit, transaction, clock });
  const files = createLicenseFiles({ signer: signing.signer, clock, present: toLicenseObject });
  const shared = { audit, events, transaction, clock };
  const planService = createPlanService({ ...shared, plans });
  const licenseService = createLicenseService({
    ...shared,
    licenses,
    findPlan: plans.findByName,
    defaultProduct,
  });
  const activationNeeds = { licenses, activations, files, byKey, licenseNotFound, fileTtlDays };
  const activationService = createActivationService({ ...shared, ...activationNeeds });
  const offline = createOfflineValidationService({ ...activationNeeds, clock });
  const tokens = createAuthorizationTokenService({
    ...shared,
    tokens: createAuthorizationTokenStore(sequelize),
    licenses,
    defaultProduct,
    byRef,
    licenseNotFound,
  });
  const apiTokens = createApiTokenService({
    tokens: createApiTokenStore(sequelize),
    audit,
    transaction,
    clock,
  });
  const idempotency = createIdempotencyService({
    replies: createIdempotentReplyStore(sequelize),
    sealer,
    transaction,
    clock,
  });
  const stats = createStatsService({
    stats: createStatsStore(sequelize, LICENSE_STATE),
    clock,
    flushUsage: usage.flush,
    states: LICENSE_STATES,
  });
  const health = createHealthService({
    clock,
    version: VERSION,
    pingDatabase: () => sequelize.authenticate(),
    jobsAreFine: around.jobsAreFine,
  });
  const sessions = createAdminSessionService({ clock, runtimeSecret: around.runtimeSecret });

  return {
    publicRoutes: [
      ...authorizationRoutes(authorizations),
      ...activationRoutes(activationService, offline),
      ...healthRoutes(publicContract, health),
      ...signingRoutes(publicContract, signing),
      ...licenseRoutes(licenseService),
      ...planRoutes(publicContract, planService),
      ...statsRoutes(publicContract, stats),
    ],
    adminRoutes: [
      ...licenseAdminRoutes(licenseService),
      ...activationAdminRoutes(activationService, byRef),
      ...authorizationTokenAdminRoutes(tokens),
      ...apiTokenAdminRoutes(apiTokens),
      ...signingAdminRoutes(signing),
      ...auditRoutes(audit),
      ...adminSessionRoutes(sessions, {
        signInAddress: () => around.signInAddress(sessions.createCode()),
        port: around.adminPort,
        overview: () => ({
          api_base_url: around.apiBaseUrl(),
          default_product: defaultProduct,
          version: VERSION,
        }),
      }),
      ...healthRoutes(adminContract, health),
      ...signingRoutes(adminContract, signing),
      ...planRoutes(adminContract, planService),
      ...statsRoutes(adminContract, stats),
    ],
    apiTokens,
    sessions,
    runOnce: idempotency.runOnce,
    async close() {
      await usage.close();
      await sequelize.close();
    },
  };
}
