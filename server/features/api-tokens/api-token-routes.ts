import { implement, type Route } from '#server/platform/route.ts';
import { apiTokenAdminContract } from './api-token-contract.ts';
import type { ApiTokenService } from './api-token-service.ts';

export function apiTokenAdminRoutes(tokens: ApiTokenService): Route[] {
  return implement(apiTokenAdminContract, {
    createApiToken: (request, call) => tokens.create(request, call),
    listApiTokens: (request) => tokens.list(request),
    rotateApiToken: ({ id, overlap_days: overlapDays }, call) => tokens.rotate(id, overlapDays, call),
    revokeApiToken: ({ id }, call) => tokens.revoke(id, call),
  });
}
