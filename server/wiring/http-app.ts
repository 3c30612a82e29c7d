// The two Express applications: the API for clients and integrations, the back office for administrators.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, sep } from 'node:path';
import { parse, type ParsedUrlQuery } from 'node:querystring';
import express, { type Express, type Request } from 'express';
import type { AdminAddresses } from '#server/features/admin-session/admin-addresses.ts';
import {
  adminCredential,
  authenticateAdmin,
  checkHostAndOrigin,
} from '#server/features/admin-session/admin-guard.ts';
import type { AdminSessionService } from '#server/features/admin-session/admin-session-service.ts';
import { apiDocs } from './api-docs.ts';
import type { ApiTokenService } from '#server/features/api-tokens/api-token-service.ts';
import { PAGE_DIRECTORY } from './built-files.ts';
import { ADMIN_API_ROOT, PUBLIC_API_ROOT } from '#server/contract.ts';
import { LIVE_PATH } from '#server/features/live/live-contract.ts';
import { answerLive } from '#server/features/live/live-handler.ts';
import type { LiveStreams } from '#server/features/live/live-streams.ts';
import { createCallLimits } from '#server/platform/call-limits.ts';
import { PUBLIC_ACTOR } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config.ts';
import { createDirectLane } from '#server/platform/direct-lane.ts';
import { errorHandler, notFound, requireHost } from '#server/platform/error-handler.ts';
import { readForwardedFor } from '#server/platform/forwarded-for.ts';
import type { Application } from '#server/platform/http-server.ts';
import type { Logger } from '#server/platform/logger.ts';
import { mount, type MountOptions } from '#server/platform/mount.ts';
import { pageHeaders } from '#server/platform/page-headers.ts';
import { carryRequestId, requestId } from '#server/platform/request-id.ts';
import { logRefusals } from '#server/platform/refusal-log.ts';
import type { Route } from '#server/platform/route.ts';
import type { SharedCounts } from '#server/platform/shared-counts.ts';
import type { SecurityLog } from '#server/platform/security-log.ts';

/** Express's simple query parser with a cache of one: clients that poll the CRL send the same query each time. */
function lastParsed(): (text: string) => ParsedUrlQuery {
  let last = '';
  let query = parse(last);
  return (text) => {
    if (text !== last) [last, query] = [text, Object.freeze(parse(text))];
    return query;
  };
}

const peerAddress = ({ socket }: IncomingMessage) => socket.remoteAddress;

type AddressReader = (request: Request) => string | undefined;

/** @param behindProxy whether to read the caller's address from `X-Forwarded-For`, which is slower */
function addressReader(behindProxy: boolean): AddressReader {
  return behindProxy ? (request) => request.ip : peerAddress;
}

function newApp(logger: Logger, addressOf: AddressReader): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', lastParsed());
  app.use(requestId(logger, addressOf), requireHost);
  return app;
}

interface ApiNeeds {
  routes: Route[];
  config: Config;
  clock: Clock;
  apiTokens: Pick<ApiTokenService, 'authenticate'>;
  sharedCounts: SharedCounts;
  runOnce: NonNullable<MountOptions['runOnce']>;
  logger: Logger;
  security: SecurityLog;
  /** The API's address as clients know it, without a trailing slash. */
  baseUrl(): string;
}

/** Express, with a faster way for the endpoints that clients call all the time. */
export interface ApiApp {
  express: Express;
  answer: Application;
}

export function createApiApp(needs: ApiNeeds): ApiApp {
  const { routes, config, clock, apiTokens, sharedCounts, runOnce, logger, security, baseUrl } = needs;
  const addressOf = addressReader(config.trustProxy !== false);
  const limits = createCallLimits({ config, clock, addressOf, sharedCounts });
  const app = newApp(logger, addressOf);
  app.set('trust proxy', config.trustProxy);
  if (config.trustProxy !== false) app.use(readForwardedFor);
  const answerRoutes = mount(PUBLIC_API_ROOT, routes, {
    authenticate: limits.countRefusals((auth, request) =>
      auth === 'public'
        ? PUBLIC_ACTOR
        : apiTokens.authenticate(request.headers.authorization, addressOf(request)),
    ),
    runOnce,
    limitFor: limits.forRow,
    failureLimitFor: limits.forFailuresOf,
    addressOf,
  });
  app.use(answerRoutes, limits.elsewhere);
  app.use(apiDocs(baseUrl));
  app.use(notFound);
  const credentialOf = ({ headers }: Request) => (headers.authorization === undefined ? null : 'api_token');
  app.use(logRefusals({ security, addressOf, credentialOf }), errorHandler(logger));
  const viaExpress: Application = app;
  // Behind a proxy, Express reads the caller's address from the headers.
  const isDirect =
    config.trustProxy === false
      ? createDirectLane({
          root: PUBLIC_API_ROOT,
          routes,
          limitFor: limits.forRow,
          failureLimitFor: limits.forFailuresOf,
          addressOf: peerAddress,
          logger,
        })
      : () => false;
  return {
    express: app,
    answer(request, response, next) {
      if (!isDirect(request, response)) viaExpress(request, response, next);
    },
  };
}

const BUILT_ASSETS = join(PAGE_DIRECTORY, 'assets', sep);

/**
 * The names of built assets contain a hash of their contents. A browser that need not ask for them again also keeps
 * their compiled code.
 */
function setCaching(response: ServerResponse, path: string): void {
  const isImmutable = path.startsWith(BUILT_ASSETS);
  response.setHeader('Cache-Control', isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache');
}

interface AdminNeeds {
  routes: Route[];
  sessions: AdminSessionService;
  live: Pick<LiveStreams, 'open'>;
  addresses: AdminAddresses;
  readLists: NonNullable<MountOptions['readLists']>;
  runOnce: NonNullable<MountOptions['runOnce']>;
  config: Pick<Config, 'trustProxy'>;
  logger: Logger;
  security: SecurityLog;
}

export function createAdminApp(needs: AdminNeeds): Express {
  const { routes, sessions, live, addresses, config, logger, security } = needs;
  const { readLists, runOnce } = needs;
  // Programs on this machine call without a proxy, and must not be able to give another address.
  const isForwarded = ({ headers }: Request) =>
    config.trustProxy !== false && addresses.isProxied(headers.host);
  const addressOf: AddressReader = (request) => (isForwarded(request) ? request.ip : peerAddress(request));
  /** For records of changes. On this machine, every caller has the same address. */
  const elsewhere: AddressReader = (request) =>
    addresses.isProxied(request.headers.host) ? addressOf(request) : undefined;
  const app = newApp(logger, addressOf);
  app.set('trust proxy', config.trustProxy);
  app.use((request, response, next) =>
    isForwarded(request) ? void readForwardedFor(request, response, next) : next(),
  );
  app.use(checkHostAndOrigin(addresses));
  const authenticate = authenticateAdmin(sessions, addresses);
  app.use(mount(ADMIN_API_ROOT, routes, { authenticate, readLists, runOnce, addressOf: elsewhere }));
  app.all(ADMIN_API_ROOT + LIVE_PATH, answerLive({ streams: live, authenticate, isLive: sessions.isLive }));
  app.use(
    carryRequestId,
    pageHeaders,
    express.static(PAGE_DIRECTORY, { cacheControl: false, redirect: false, setHeaders: setCaching }),
  );
  app.use(notFound);
  app.use(logRefusals({ security, addressOf, credentialOf: adminCredential }), errorHandler(logger));
  return app;
}
