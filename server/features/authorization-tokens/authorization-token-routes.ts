import { implement, type Route } from '#server/platform/route.ts';
import type { AuthorizationExplanation } from './authorization-explanation.ts';
import { authorizationParsers } from './authorization-requests.ts';
import type { AuthorizationService } from './authorization-service.ts';
import {
  authorizationAdminContract,
  authorizationContract,
  authorizationTokenAdminContract,
} from './authorization-token-contract.ts';
import type { AuthorizationTokenService } from './authorization-token-service.ts';

export function authorizationRoutes(authorizations: AuthorizationService): Route[] {
  return implement(
    authorizationContract,
    {
      authorizeToken: (request, call) => authorizations.authorizeToken(request, call),
      authorize: (request, call) => authorizations.authorize(request, call),
    },
    authorizationParsers,
  );
}

export function authorizationAdminRoutes(explain: AuthorizationExplanation): Route[] {
  return implement(authorizationAdminContract, { explainAuthorization: (request) => explain(request) });
}

export function authorizationTokenAdminRoutes(tokens: AuthorizationTokenService): Route[] {
  return implement(authorizationTokenAdminContract, {
    issueToken: (request, call) => tokens.issue(request, call),
    listTokens: (request) => tokens.list(request),
    showToken: ({ id }) => tokens.show(id),
    revokeToken: ({ id }, call) => tokens.revoke(id, call),
  });
}
