import { implement, type Route } from '#server/platform/route.ts';
import { serverAdminContract } from './server-contract.ts';
import type { ServerRegistry } from './server-registry.ts';

export function serverAdminRoutes(servers: Pick<ServerRegistry, 'list'>): Route[] {
  return implement(serverAdminContract, { listServers: () => servers.list() });
}
