// Wires all parts of the service manually.
import { adminSessionRoutes } from '#server/features/admin-session/admin-session-routes.ts';
import { type AlertBoard, createAlertBoard } from '#server/features/alerts/alert-board.ts';
import { raiseLogDrops } from '#server/features/alerts/log-drop-alert.ts';
import { alertAdminRoutes } from '#server/features/alerts/alert-routes.ts';
import { apiTokenAdminRoutes } from '#server/features/api-tokens/api-token-routes.ts';
import { createApiTokenService } from '#server/features/api-tokens/api-token-service.ts';
import { createApiTokenStore } from '#server/features/api-tokens/api-token-store.ts';
import { auditRoutes } from '#server/features/audit/audit-routes.ts';
import { createAuditService } from '#server/features/audit/audit-service.ts';
import { createAuditStore } from '#server/features/audit/audit-store.ts';
import { recordSecurityEvent } from '#server/features/audit/security-events.ts';
import { composeActivations } from './compose-activations.ts';
import { composeAdministration, tidyDataDirectory } from './compose-administration.ts';
import { composeAuthorizations } from './compose-authorizations.ts';
import { composeCluster, publishEverywhere } from './compose-cluster.ts';
import { composeDeniedCalls } from './compose-denied-calls.ts';
import { composeOverview } from './compose-overview.ts';
import { composeSessions } from './compose-sessions.ts';
import { composeBackups } from './compose-backups.ts';
import { composeCertificates, openTls } from './compose-certificates.ts';
import { type Installation, openInstallation } from './compose-installation.ts';
import { composeHealth } from './compose-health.ts';
import { composeFloating } from './compose-floating.ts';
import { composeLicenses } from './compose-licenses.ts';
import { composeLive } from './compose-live.ts';
import { composeSigning } from './compose-signing.ts';
import { composeStatistics } from './compose-statistics.ts';
import { composeStorage } from './compose-storage.ts';
import { composeTransfer } from './compose-transfer.ts';
import { composeWebhooks } from './compose-webhooks.ts';
import { adminContract, publicContract } from '#server/contract.ts';
import { createDeliveryStore } from '#server/features/webhooks/delivery-store.ts';
import { createEventService } from '#server/features/events/event-service.ts';
import { createEventStore } from '#server/features/events/event-store.ts';
import { healthRoutes } from '#server/features/health/health-routes.ts';
import { createIdempotencyService } from '#server/features/idempotency/idempotency-service.ts';
import { createIdempotentReplyStore } from '#server/features/idempotency/idempotent-reply-store.ts';
import { changesSeats } from '#server/features/leases/lease-upkeep.ts';
import { createLicenseChange } from '#server/features/licenses/license-change.ts';
import { createLicenseStore } from '#server/features/licenses/license-store.ts';
import { topicsOfAction } from '#server/features/live/live-topics.ts';
import { planRoutes } from '#server/features/plans/plan-routes.ts';
import { createPlanService } from '#server/features/plans/plan-service.ts';
import { createPlanStore } from '#server/features/plans/plan-store.ts';
import { systemClock } from '#server/platform/clock.ts';
import { limitsInForce } from '#server/platform/call-limits.ts';
import { createSealer } from '#server/platform/sealer.ts';
import { signingAdminRoutes, signingRoutes } from '#server/features/signing/signing-routes.ts';
import { serverAdminRoutes } from '#server/features/servers/server-routes.ts';
import { statisticsRoutes } from '#server/features/statistics/statistics-routes.ts';
import { VERSION } from '#server/installation/version.ts';
import { openCommand } from '#server/installation/open-command.ts';
import type { Service, ServiceEnvironment } from './service.ts';

export async function compose(around: ServiceEnvironment): Promise<Service> {
  await tidyDataDirectory(around.config);
  const installation = await openInstallation(around);
  try {
    return await composeOver(installation, around);
  } catch (error) {
    await installation.close();
    throw error;
  }
}

async function composeOver(installation: Installation, around: ServiceEnvironment): Promise<Service> {
  const { config, clock, isClockTrusted, logger, security } = around;
  const { sequelize, transaction, masterKey, watch } = installation;
  const sealer = createSealer(masterKey);
  const { defaultProduct, licenseFileTtlDays: fileTtlDays } = config;

  const alerts: AlertBoard = createAlertBoard({ clock, onChanged: () => live.publish(['alerts']) });
  const cluster = composeCluster(around, {
    watch,
    alerts,
    isReady: () => health.isReady(),
    servedList: () => certificates.servedList(),
    takeOverList: () => certificates.takeOverList(),
    onChanged: () => ownLive.publish(['servers']),
  });
  const health = composeHealth(installation, around, cluster, () => storage);
  const ownLive = composeLive(sequelize, health);
  const live = publishEverywhere(ownLive, cluster);
  raiseLogDrops(around.droppedLines, alerts);
  const storage = composeStorage(installation, { config, guard: around.guard, alerts, clock, logger });
  const onQueued = () => {
    around.onDeliveriesQueued();
    cluster.messages.tell({ queued: true });
    live.publish(['deliveries']);
  };
  const audit = createAuditService({
    entries: createAuditStore(sequelize),
    clock,
    onRecorded(entry) {
      live.publish(topicsOfAction(entry.action));
      recordSecurityEvent(security, entry);
      if (changesSeats(entry.action)) leases.noteSeatsChanged();
    },
  });
  const deliveries = createDeliveryStore(sequelize);
  const events = createEventService({
    events: createEventStore(sequelize),
    queueDeliveries: deliveries.queue,
    clock,
    onQueued,
  });
  const plans = createPlanStore(sequelize);
  const licenses = createLicenseStore(sequelize);
  const { signing, files } = await composeSigning(installation, { sealer, audit, clock });
  const { sharedCounts } = cluster;
  const changeLicense = createLicenseChange(licenses, transaction);
  const shared = { audit, events, transaction, clock, licenses, changeLicense, logger, sharedCounts };
  const planService = createPlanService({ ...shared, plans });
  const licensing = composeLicenses(sequelize, {
    ...shared,
    findPlan: plans.findToUse,
    defaultProduct,
    // The clock of the jobs.
    noticeTime: around.sharedTime ?? systemClock,
  });
  const deniedCalls = composeDeniedCalls(sequelize, {
    ...shared,
    onChanged: () => live.publish(['denials']),
  });
  const activations = composeActivations(sequelize, {
    ...shared,
    files,
    isClockTrusted,
    fileTtlDays,
    deviceLimit: limitsInForce(config).rateLimitActivations,
    denials: deniedCalls.log,
    alerts,
    onFileRecorded: () => live.publish(['devices']),
    noteChange: cluster.noteChange,
  });
  const leases = await composeFloating(sequelize, {
    ...shared,
    details: licensing.details,
    plans: planService,
    files,
    limited: limitsInForce(config).rateLimitPublic > 0,
    isClockTrusted,
    steadyClock: around.steadyClock,
    onChanged: () => live.publish(['leases']),
    noteChange: cluster.noteChange,
  });
  const authorizations = await composeAuthorizations(sequelize, {
    ...shared,
    denials: deniedCalls.log,
    sightings: activations.sightings,
    defaultProduct,
    noteChange: cluster.noteChange,
  });
  const transfer = await composeTransfer(sequelize, {
    ...shared,
    plans,
    defaultProduct,
    dataDir: config.dataDir,
  });
  const apiTokens = createApiTokenService({ ...shared, tokens: createApiTokenStore(sequelize) });
  const idempotency = createIdempotencyService({
    replies: createIdempotentReplyStore(sequelize),
    sealer,
    transaction,
    clock,
    isClockTrusted,
  });
  const stats = composeStatistics(sequelize, { clock, flushUsage: authorizations.usage.flush });
  const webhooks = composeWebhooks(sequelize, { ...shared, config, deliveries, sealer, onQueued });
  const certificates = composeCertificates(sequelize, {
    ...shared,
    sealer,
    isClockTrusted,
    dataDir: config.dataDir,
    apiBaseUrl: around.apiBaseUrl,
    runUpkeep: around.runCertificateUpkeep,
    spreadList: watch && cluster.crlSpread.wait,
  });
  cluster.messages.listen(({ topics, queued }) => {
    if (queued) around.onDeliveriesQueued();
    if (topics.includes('certificates')) void certificates.lookAgain();
  });
  const administration = composeAdministration(sequelize, {
    ...shared,
    config,
    ownPorts: around.ownPorts,
    restart: around.restart,
    guard: around.guard,
    alerts,
    countOtherServers: cluster.countOthers,
    indices: installation.indices,
  });
  const backups = await composeBackups(installation, {
    ...around,
    ...shared,
    alerts,
    onChanged: () => live.publish(['settings']),
  });
  const sessions = composeSessions(sequelize, {
    ...shared,
    dataDir: config.dataDir,
    runtimeSecret: around.runtimeSecret,
    onEnded: live.endSession,
    security,
  });
  const overview = composeOverview(sequelize, {
    ...shared,
    health,
    live,
    licenses: stats.licenses,
    perDay: stats.perDay,
    lists: certificates.lists,
    authority: certificates.authority,
    countFailedDeliveries: webhooks.countFailed,
    countDeniedToday: deniedCalls.countToday,
    pools: leases.poolList,
  });

  return {
    publicRoutes: [
      ...authorizations.publicRoutes,
      ...leases.publicRoutes,
      ...activations.publicRoutes,
      ...healthRoutes(publicContract, health),
      ...signingRoutes(publicContract, signing),
      ...licensing.publicRoutes(activations.devices),
      ...planRoutes(publicContract, planService),
      ...statisticsRoutes(publicContract, stats.service),
      ...webhooks.publicRoutes,
      ...certificates.routes,
    ],
    adminRoutes: [
      ...licensing.adminRoutes,
      ...transfer.adminRoutes,
      ...activations.adminRoutes,
      ...leases.adminRoutes,
      ...authorizations.adminRoutes,
      ...deniedCalls.adminRoutes,
      ...apiTokenAdminRoutes(apiTokens),
      ...signingAdminRoutes(signing),
      ...auditRoutes(audit),
      ...overview.routes,
      ...alertAdminRoutes(alerts),
      ...adminSessionRoutes(sessions, {
        addresses: around.adminAddresses,
        openCommand: () => openCommand(config.given.dataDir.source === 'default' ? null : config.dataDir),
        serverInfo: () => ({
          api_base_url: around.apiBaseUrl(),
          default_product: defaultProduct,
          version: VERSION,
        }),
      }),
      ...healthRoutes(adminContract, health),
      ...signingRoutes(adminContract, signing),
      ...planRoutes(adminContract, planService),
      ...statisticsRoutes(adminContract, stats.service),
      ...webhooks.adminRoutes,
      ...certificates.adminRoutes,
      ...administration.adminRoutes,
      ...backups.routes,
      ...serverAdminRoutes(cluster.servers),
    ],
    apiTokens,
    sessions,
    live,
    alerts,
    storage,
    status: overview.status,
    runOnce: idempotency.runOnce,
    masterKey,
    openTls: () => openTls({ config, authority: certificates.authority, sealer, clock, logger }),
    pending: {
      notices: licensing.hasNoticesDue,
      deliveries: webhooks.hasWaiting,
      certificates: certificates.isUpkeepDue,
    },
    raiseAlerts() {
      activations.surges.start();
      backups.showAlerts();
    },
    backups: backups.job,
    maintainLeases: leases.start,
    cluster,
    endImports: transfer.end,
    async close() {
      overview.status.close();
      await backups.close();
      activations.surges.close();
      await leases.close();
      await authorizations.usage.close();
      await activations.sightings.close();
      await deniedCalls.log.close();
      await cluster.leave();
      await installation.close();
    },
  };
}
