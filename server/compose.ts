// Every construction, by hand: what the service is made of, and who is handed what.
import { readFileSync } from 'node:fs';
import { lookup } from 'node:dns/promises';
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
import { composeCertificates, openTls } from './compose-certificates.ts';
import { adminContract, publicContract } from './contract.ts';
import { databaseLocation } from './database-location.ts';
import { connect, type Database } from './database/connect.ts';
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
import type { TlsSource } from './platform/tls-credentials.ts';
import { createLicenseFiles } from './signing/license-file-service.ts';
import { createSigningKeyStore } from './signing/signing-key-store.ts';
import { signingAdminRoutes, signingRoutes } from './signing/signing-routes.ts';
import { createSigningService } from './signing/signing-service.ts';
import { statsRoutes } from './stats/stats-routes.ts';
import { createStatsService } from './stats/stats-service.ts';
import { createStatsStore } from './stats/stats-store.ts';
import { VERSION } from './version.ts';
import { createDeliveryService } from './webhooks/delivery-service.ts';
import { createDeliveryStore } from './webhooks/delivery-store.ts';
import { createTestSender } from './webhooks/test-delivery.ts';
import { webhookAdminRoutes, webhookRoutes } from './webhooks/webhook-routes.ts';
import { createWebhookService } from './webhooks/webhook-service.ts';
import { createWebhookStore } from './webhooks/webhook-store.ts';
import { checkWebhookUrl } from './webhooks/webhook-url.ts';

export interface Surroundings {
  config: Config;
  clock: Clock;
  logger: Logger;
  runtimeSecret: string;
  jobsAreFine(): boolean;
  /** Webhook deliveries have been committed. */
  onDeliveriesQueued(): void;
  /** Has a job do the upkeep of certificates; null where there are no jobs. */
  runCertificateUpkeep: (() => Promise<void>) | null;
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
  /** For the jobs, which open secrets in threads of their own. */
  masterKey: Uint8Array;
  /** What the API listener shows its clients; null without TLS. @throws ConfigError */
  openTls(): Promise<TlsSource | null>;
  close(): Promise<void>;
}

/** got and what belongs to it are loaded only where something is sent. */
async function openSender(config: Config) {
  const { createDeliverySender } = await import('./webhooks/delivery-sender.ts');
  return createDeliverySender({
    allow: config.webhookAllow,
    extraCa: config.webhookCa === null ? [] : [readFileSync(config.webhookCa, 'utf8')],
    timeoutMs: config.webhookTimeoutSeconds * 1000,
  });
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
  const masterKey = loadMasterKey(config.dataDir, config.masterKey, nothingSealed);
  const sealer = createSealer(masterKey);
  const { defaultProduct, licenseFileTtlDays: fileTtlDays } = config;

  const audit = createAuditService({ entries: createAuditStore(sequelize), clock });
  const events = createEventService({
    events: createEventStore(sequelize),
    clock,
    onQueued: around.onDeliveriesQueued,
  });
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
  const webhooks = createWebhookService({
    audit,
    transaction,
    clock,
    sealer,
    webhooks: createWebhookStore(sequelize),
    checkUrl: (url) => checkWebhookUrl(url, { allow: config.webhookAllow, lookup }),
    sendTest: createTestSender(() => openSender(config), clock),
  });
  const deliveries = createDeliveryService({
    audit,
    transaction,
    clock,
    deliveries: createDeliveryStore(sequelize),
    onQueued: around.onDeliveriesQueued,
  });
  const certificates = composeCertificates(sequelize, {
    ...shared,
    sealer,
    licenses,
    apiBaseUrl: around.apiBaseUrl,
    runUpkeep: around.runCertificateUpkeep,
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
      ...webhookRoutes(publicContract, webhooks),
      ...certificates.routes,
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
      ...webhookRoutes(adminContract, webhooks),
      ...webhookAdminRoutes(webhooks, deliveries),
      ...certificates.adminRoutes,
    ],
    apiTokens,
    sessions,
    runOnce: idempotency.runOnce,
    masterKey,
    openTls: () => openTls({ config, authority: certificates.authority, sealer, clock, logger }),
    async close() {
      await usage.close();
      await sequelize.close();
    },
  };
}
