// Admits only administrators to the admin listener: those of this machine, and those who come through the proxy at
// `admin_url` (protects against DNS rebinding and cross-site requests).
import type { Request, RequestHandler } from 'express';
import type { Actor } from '#server/platform/call.ts';
import type { EndpointAuth } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { textProblem } from '#server/wire/readable-text.ts';
import type { RefusedCredential } from '#server/platform/security-log.ts';
import { type AdminAddresses, hasSessionCookie } from './admin-addresses.ts';
import type { AdminSessionService } from './admin-session-service.ts';

const SIGN_IN_PATH = /\/session\/?$/u;
/** The host in `GET http://host/path`. */
const TARGET_HOST = /^[a-z][\w+.-]*:\/\/([^/?#]*)/iu;
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

const WRONG_HOST = 'the back office answers on loopback only, and at its admin URL if one is set';
const OTHER_PAGE = 'requests from other pages are refused';

/** @throws ApiError `forbidden` for a host that is neither this machine's nor that of `admin_url` */
function checkHost({ url, headers, socket }: Request, addresses: AdminAddresses): string {
  const { host = '' } = headers;
  const isKnown = addresses.isProxied(host) || addresses.isLocal(host, socket.localAddress);
  // A host in the request target counts more than the header (RFC 9112, section 3.2.2), so they must not differ.
  const target = TARGET_HOST.exec(url)?.[1] ?? host;
  if (!isKnown || target !== host) throw new ApiError('forbidden', WRONG_HOST);
  return host;
}

/** @throws ApiError `forbidden` for a request that a page of another origin makes */
function checkOrigin({ method, headers }: Request, host: string, addresses: AdminAddresses): void {
  const { origin } = headers;
  // Through the proxy, every caller is a browser, which sends it with each change.
  const isMissing = origin === undefined && addresses.isProxied(host) && !READS.has(method);
  const isOther = origin !== undefined && origin !== addresses.originOf(host);
  if (isMissing || isOther) throw new ApiError('forbidden', OTHER_PAGE);
}

/** @throws ApiError `forbidden` for a request that a page of another site makes, unless it opens the back office */
function checkSite({ method, path, headers }: Request, host: string, addresses: AdminAddresses): void {
  const site = headers['sec-fetch-site'];
  // On this machine, other ports are the same site. The proxy's domain may have pages of others.
  if (site !== 'cross-site' && !(site === 'same-site' && addresses.isProxied(host))) return;
  // A link from another page may open the back office, but nothing else.
  const opensPage = method === 'GET' && headers['sec-fetch-mode'] === 'navigate';
  if (!opensPage || path.startsWith('/admin/')) throw new ApiError('forbidden', OTHER_PAGE);
}

/** Rejects requests for another host or from another page. */
export function checkHostAndOrigin(addresses: AdminAddresses): RequestHandler {
  return (request, _response, next) => {
    const host = checkHost(request, addresses);
    checkOrigin(request, host, addresses);
    checkSite(request, host, addresses);
    next();
  };
}

/** Limits the lookups that one request can cause. */
const MAX_SAME_NAME = 10;

/** Pages on other ports of the host can set cookies of the same name, and browsers may send those first (RFC 6265, 5.4). */
function cookieValues(request: Request, name: string): string[] {
  return (request.headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim().split('='))
    .filter(([key]) => key === name)
    .map(([, value = '']) => value)
    .slice(0, MAX_SAME_NAME);
}

/** The kind of credential of a rejected call; null if it had none. */
export function adminCredential(request: Request): RefusedCredential | null {
  const { authorization, cookie: cookies } = request.headers;
  if (request.method === 'POST' && SIGN_IN_PATH.test(request.path)) return 'sign_in_code';
  return authorization !== undefined || hasSessionCookie(cookies) ? 'admin_session' : null;
}

const MAX_USER_NAME = 64;

/** The user name that a command claims, without proof. */
function claimedUser(request: Request): string {
  const name = decodeURIComponent(String(request.headers['x-license-desk-user'] ?? '')).trim();
  const isName = name !== '' && name.length <= MAX_USER_NAME && textProblem(name) === null;
  return isName ? name : 'unknown';
}

/** Identifies the administrator. @throws ApiError `unauthorized` */
export function authenticateAdmin(sessions: AdminSessionService, addresses: AdminAddresses) {
  async function bySession(secrets: readonly string[]): Promise<Actor | null> {
    for (const secret of secrets) {
      const actor = await sessions.bySession(secret);
      if (actor) return actor;
    }
    return null;
  }

  async function identify(request: Request): Promise<Actor | null> {
    const { host, authorization = '' } = request.headers;
    const bearer = /^Bearer (\S+)$/u.exec(authorization)?.[1];
    if (bearer === undefined) return bySession(cookieValues(request, addresses.cookieOf(host).name));
    // Commands run on this machine, so their secret has no use elsewhere.
    return addresses.isProxied(host) ? null : sessions.byRuntimeSecret(bearer, claimedUser(request));
  }

  return async (auth: EndpointAuth, request: Request): Promise<Actor> => {
    if (auth === 'sign_in') return { kind: 'public', name: 'sign-in' };
    const actor = await identify(request);
    if (!actor) {
      throw new ApiError('unauthorized', 'sign in first: `license-desk open` prints a link');
    }
    return actor;
  };
}
