// The two HTTP servers: one for the API, one for the back office.
import type { AdminAddresses } from '#server/features/admin-session/admin-addresses.ts';
import { adminHosts } from '#server/platform/admin-reach.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config.ts';
import { createServer } from '#server/platform/http-server.ts';
import { createServers } from '#server/platform/http-servers.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { SecurityLog } from '#server/platform/security-log.ts';
import type { TlsSource } from '#server/platform/tls-credentials.ts';
import { createAdminApp, createApiApp } from './http-app.ts';
import { ADMIN_BOUNDS, apiBounds } from './listener-bounds.ts';
import type { Service } from './service.ts';

interface Needs {
  config: Config;
  clock: Clock;
  logger: Logger;
  security: SecurityLog;
  adminAddresses: AdminAddresses;
  baseUrl(): string;
}

/** Neither listens yet. @param tls the certificate of the API; null for HTTP */
export function createListeners(
  service: Service,
  tls: TlsSource | null,
  { config, clock, logger, security, adminAddresses, baseUrl }: Needs,
) {
  const { apiTokens, sessions, live, runOnce, cluster } = service;
  const apiApp = createApiApp({
    routes: service.publicRoutes,
    config,
    clock,
    apiTokens,
    sharedCounts: cluster.sharedCounts,
    runOnce,
    logger,
    security,
    baseUrl,
  });
  const adminApp = createAdminApp({
    routes: service.adminRoutes,
    sessions,
    live,
    addresses: adminAddresses,
    readLists: cluster.readLists,
    runOnce,
    config,
    logger,
    security,
  });
  const adminOptions = { tls: null, app: adminApp, logger, ...ADMIN_BOUNDS };
  return {
    admin: createServers(adminHosts(config.adminHost), adminOptions),
    api: createServer({ tls, app: apiApp.answer, logger, ...apiBounds(apiApp.express) }),
  };
}
