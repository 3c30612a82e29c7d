// HTTPS connections that judge the very address they dial, so that a name which changes its address between
// registration and delivery (DNS rebinding) gets nowhere.
import type { LookupAddress } from 'node:dns';
import { Agent, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from 'node:net';
import {
  connect,
  type ConnectionOptions,
  createSecureContext,
  type DetailedPeerCertificate,
  getCACertificates,
  type SecureContext,
} from 'node:tls';
import { MAX_RESPONSIVE } from './dispatch-plan.ts';
import { isReachable } from './public-address.ts';
import type { Lookup } from './webhook-url.ts';

/** Idle connections kept for one origin: enough for all prompt attempts, as webhooks may share an origin. */
export const MAX_FREE_SOCKETS = MAX_RESPONSIVE;

/** A connection that has had nothing to do for this long is closed. */
const IDLE_MS = 30_000;

/** How long one address of several is tried before the next one is (RFC 8305); Node's 250 ms is short for a slow line. */
const NEXT_ADDRESS_MS = 1000;

/** The connection would have gone to an address that webhooks may not reach. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
  readonly code = 'ERR_FORBIDDEN_ADDRESS';
  readonly address: string;

  constructor(address: string) {
    super(`address ${address} is not public`);
    this.address = address;
  }
}

/** Errors of a TLS connection bear what the receiver showed. */
export interface HandshakeError extends NodeJS.ErrnoException {
  /** DER: its own certificate and, as far as known, its issuers'. */
  peerChain?: Buffer[];
}

function chainOf(peer: DetailedPeerCertificate): Buffer[] {
  const seen = new Set<DetailedPeerCertificate>();
  // A root is its own issuer; a receiver that showed nothing has an empty certificate.
  for (let next = peer; next?.raw && !seen.has(next); next = next.issuerCertificate) seen.add(next);
  return [...seen].map(({ raw }) => raw);
}

/**
 * TLS 1.2 or later, trusting the system's authorities, Node's and these.
 *
 * @param extraCa PEM, each text one or more certificates. A long list: about 20 ms and 1 MB, so keep what comes out.
 */
export function createTrust(extraCa: readonly string[]): SecureContext {
  const roots = [...getCACertificates('default'), ...getCACertificates('system')];
  return createSecureContext({ ca: [...roots, ...extraCa], minVersion: 'TLSv1.2' });
}

interface Guard {
  /** Networks that may be reached besides public ones. */
  allow: readonly string[];
  trust: SecureContext;
  lookup: Lookup;
}

/** A name is refused if any of its addresses is, as it is at registration. */
function guardLookup({ allow, lookup }: Guard): LookupFunction {
  return async (host, options, callback) => {
    let found: LookupAddress[];
    try {
      found = await lookup(host, { all: true });
    } catch (error) {
      callback(error as NodeJS.ErrnoException, []);
      return;
    }
    const refused = found.find(({ address }) => !isReachable(address, allow));
    const [first] = found;
    if (refused) callback(new ForbiddenAddressError(refused.address), []);
    else if (!first) callback(Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' }), []);
    else if (options.all) callback(null, found);
    else callback(null, first.address, first.family);
  };
}

function refuse(address: string): LookupFunction {
  return (_host, _options, callback) => process.nextTick(callback, new ForbiddenAddressError(address), []);
}

/**
 * Keeps connections alive. Nothing in a request can weaken the guard: its own options
 * for TLS, sockets and proxies are not looked at.
 *
 * TLS is not laid over a socket opened beforehand: when such a socket moves on to the next address of a name, Node 24
 * dies of a segmentation fault.
 */
export class GuardedAgent extends Agent {
  readonly #guard: Guard;

  constructor(guard: Guard) {
    // Not bounded here: webhooks that share an origin must not wait for each other, and the dispatcher bounds the
    // attempts of each.
    super({ keepAlive: true, maxFreeSockets: MAX_FREE_SOCKETS, timeout: IDLE_MS });
    this.#guard = guard;
  }

  override createConnection(options: RequestOptions): Socket {
    const { allow, trust } = this.#guard;
    const host = (options.host ?? '').replace(/^\[|\]$/gu, '');
    const isLiteral = isIP(host) !== 0;
    const isRefused = isLiteral && !isReachable(host, allow);
    const dialling: ConnectionOptions & TcpNetConnectOpts = {
      // Sockets do not look up literals: one that is refused becomes a name, whose lookup then fails.
      host: isRefused ? 'refused.invalid' : host,
      lookup: isRefused ? refuse(host) : guardLookup(this.#guard),
      port: Number(options.port ?? 443),
      // Neither an address nor the dot of a fully qualified name has a place here (RFC 6066 section 3).
      servername: isLiteral ? '' : host.replace(/\.$/u, ''),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
      noDelay: true,
      secureContext: trust,
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
    };
    const socket = connect(dialling);
    socket.prependOnceListener('connect', () => {
      const address = socket.remoteAddress ?? '';
      if (!isReachable(address, allow)) socket.destroy(new ForbiddenAddressError(address));
    });
    let peer: DetailedPeerCertificate | undefined;
    // Told before the certificate is judged; afterwards the connection is gone, and with it what it was shown. Asking
    // for an X509Certificate here would leave Node's own check without any names (24.21).
    socket.prependOnceListener('secure', () => {
      peer = socket.getPeerCertificate(true);
    });
    // Also there for an error that comes when no request holds the socket: unheard, it would end the process.
    socket.on('error', (error: HandshakeError) => {
      if (peer) error.peerChain = chainOf(peer);
    });
    return socket;
  }
}
