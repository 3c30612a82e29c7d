// Admits only this machine's administrators to the admin listener (protects against DNS rebinding and cross-site
// requests).
import type { Request, RequestHandler } from 'express';
import type { Actor } from '#server/platform/call.ts';
import type { EndpointAuth } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { textProblem } from '#server/wire/readable-text.ts';
import type { RefusedCredential } from '#server/platform/security-log.ts';
import type { AdminSessionService } from './admin-session-service.ts';

const SESSION_COOKIE = 'license_desk_session_';
const SIGN_IN_PATH = /\/session\/?$/u;

/** Cookies ignore ports. Without a name per port, two servers on one machine would sign each other out. */
export function sessionCookie(port: number): string {
  return `${SESSION_COOKIE}${port}`;
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Rejects requests for another host or from another page. */
export const checkHostAndOrigin: RequestHandler = (request, _response, next) => {
  const host = request.headers.host ?? '';
  const name = host.replace(/:\d+$/u, '');
  if (!LOOPBACK_HOSTS.has(name)) throw new ApiError('forbidden', 'the back office answers on loopback only');
  const { origin } = request.headers;
  if (origin !== undefined && origin !== `http://${host}`) {
    throw new ApiError('forbidden', 'requests from other pages are refused');
  }
  if (request.headers['sec-fetch-site'] === 'cross-site') {
    // A link from another page may open the back office, but nothing else.
    const opensPage = request.method === 'GET' && request.headers['sec-fetch-mode'] === 'navigate';
    if (!opensPage || request.path.startsWith('/admin/')) {
      throw new ApiError('forbidden', 'requests from other pages are refused');
    }
  }
  next();
};

function cookie(request: Request, name: string): string | undefined {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [key, value] = part.trim().split('=');
    if (key === name) return value;
  }
  return undefined;
}

/** The kind of credential of a rejected call; null if it had none. */
export function adminCredential(request: Request): RefusedCredential | null {
  const { authorization, cookie: cookies = '' } = request.headers;
  if (request.method === 'POST' && SIGN_IN_PATH.test(request.path)) return 'sign_in_code';
  return authorization !== undefined || cookies.includes(SESSION_COOKIE) ? 'admin_session' : null;
}

const MAX_USER_NAME = 64;

/** The user name that a command claims, without proof. */
function claimedUser(request: Request): string {
  const name = decodeURIComponent(String(request.headers['x-license-desk-user'] ?? '')).trim();
  const isName = name !== '' && name.length <= MAX_USER_NAME && textProblem(name) === null;
  return isName ? name : 'unknown';
}

/** Identifies the administrator. @throws ApiError `unauthorized` */
export function authenticateAdmin(sessions: AdminSessionService) {
  return async (auth: EndpointAuth, request: Request): Promise<Actor> => {
    if (auth === 'sign_in') return { kind: 'public', name: 'sign-in' };
    const bearer = /^Bearer (\S+)$/u.exec(request.headers.authorization ?? '')?.[1];
    const actor =
      bearer === undefined
        ? await sessions.bySession(cookie(request, sessionCookie(request.socket.localPort ?? 0)))
        : sessions.byRuntimeSecret(bearer, claimedUser(request));
    if (!actor) {
      throw new ApiError('unauthorized', 'sign in first: `license-desk open` prints a link');
    }
    return actor;
  };
}
