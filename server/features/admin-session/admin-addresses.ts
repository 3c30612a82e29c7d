// The addresses of the back office: on this machine, and at `admin_url` through a reverse proxy. Requests are told apart
// by their Host header, which a page in a browser cannot choose.
import { isLoopback } from '#server/platform/loopback.ts';

const LOCAL_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::(\d+))?$/u;
const COOKIE = 'license_desk_session_';
/** Browsers accept it from HTTPS only, and not from another host of the same domain (RFC 6265bis, section 4.1.3.2). */
const SECURE_PREFIX = '__Host-';
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';

export interface SessionCookie {
  name: string;
  /** Everything after the value, joined by `; `. */
  attributes: string;
}

export interface SignInAddresses {
  /** On this machine. */
  address: string;
  /** Through the proxy; absent without `admin_url`. */
  proxied_address?: string;
}

/** A way to reach the back office. */
interface Entrance {
  /** The headers that a browser sends for it. */
  hosts: ReadonlySet<string>;
  origin: string;
  cookie: SessionCookie;
}

interface Needs {
  /** An origin. */
  adminUrl: string | null;
  /** The admin port, which is known once the server listens. */
  port(): number;
}

/** Cookies ignore ports. Without a name per port, two servers on one machine would sign each other out. */
function cookieFor(port: number | string, isSecure: boolean): SessionCookie {
  return isSecure
    ? { name: `${SECURE_PREFIX}${COOKIE}${port}`, attributes: `${ATTRIBUTES}; Secure` }
    : { name: `${COOKIE}${port}`, attributes: ATTRIBUTES };
}

/** The cookie's name depends on the URL only, so that it is the same on every server behind the proxy. */
function proxiedEntrance(adminUrl: string): Entrance {
  const { protocol, hostname, host, port, origin } = new URL(adminUrl);
  const isSecure = protocol === 'https:';
  const explicitPort = port || (isSecure ? '443' : '80');
  return {
    // Some proxies add the port in any case.
    hosts: new Set([host, `${hostname}:${explicitPort}`]),
    origin,
    cookie: cookieFor(explicitPort, isSecure),
  };
}

export function createAdminAddresses({ adminUrl, port }: Needs) {
  const proxied = adminUrl === null ? null : proxiedEntrance(adminUrl);
  const local = () => `http://127.0.0.1:${port()}`;

  /** Whether the header names the admin listener itself, as that of a command does. */
  const isOwn = (host: string) => LOCAL_HOST.exec(host)?.[1] === String(port());
  const isProxied = (host: string | undefined): host is string =>
    host !== undefined && proxied !== null && proxied.hosts.has(host) && !isOwn(host);

  return {
    /** `http://127.0.0.1:8788` */
    local,

    signIn: (code: string): SignInAddresses => ({
      address: `${local()}/?code=${code}`,
      ...(proxied ? { proxied_address: `${proxied.origin}/?code=${code}` } : {}),
    }),

    /** Whether a request with this Host header comes through the proxy. */
    isProxied,

    /**
     * Whether a request with this Host header comes from this machine.
     * @param listener the address that has accepted the connection: outside of this machine, any Host can be claimed
     */
    isLocal: (host: string, listener: string | undefined): boolean =>
      LOCAL_HOST.test(host) && listener !== undefined && isLoopback(listener),

    /** The origin of pages from this host, which has to be a valid one. */
    originOf: (host: string): string => (proxied && isProxied(host) ? proxied.origin : `http://${host}`),

    cookieOf: (host: string | undefined): SessionCookie =>
      proxied && isProxied(host) ? proxied.cookie : cookieFor(port(), false),
  };
}

export type AdminAddresses = ReturnType<typeof createAdminAddresses>;

/** Whether the header has a session cookie of any server. */
export function hasSessionCookie(header: string | undefined): boolean {
  return header?.includes(COOKIE) ?? false;
}
