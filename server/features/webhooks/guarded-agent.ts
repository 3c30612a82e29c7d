// HTTPS connections that check the address they connect to, as a protection against DNS rebinding: a name that changes
// its address between registration and delivery.
import { X509Certificate } from 'node:crypto';
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

/** Idle connections kept per origin: enough for all responsive attempts, because webhooks may share an origin. */
const MAX_FREE_SOCKETS = MAX_RESPONSIVE;

/** Idle connections are closed after this time. */
const IDLE_MS = 30_000;

/** How long to try one of several addresses before the next (RFC 8305). Node's 250 ms is short for a slow line. */
const NEXT_ADDRESS_MS = 1000;

/** The address is one that webhooks must not reach. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
  readonly code = 'ERR_FORBIDDEN_ADDRESS';
  readonly address: string;

  constructor(address: string) {
    super(`address ${address} is not public`);
    this.address = address;
  }
}

/** TLS errors include the certificates that the receiver sent. */
export interface HandshakeError extends NodeJS.ErrnoException {
  /** DER: the receiver's certificate and, as far as known, its issuers'. */
  peerChain?: Buffer[];
}

function chainOf(peer: DetailedPeerCertificate): Buffer[] {
  const seen = new Set<DetailedPeerCertificate>();
  // A root is its own issuer; a receiver without a certificate has an empty one.
  for (let next = peer; next?.raw && !seen.has(next); next = next.issuerCertificate) seen.add(next);
  return [...seen].map(({ raw }) => raw);
}

function isRoot(pem: string): boolean {
  const { subject, issuer } = new X509Certificate(pem);
  return subject === issuer;
}

/**
 * TLS 1.2 or later, trusting the system's authorities, Node's and `extraCa`.
 * @param extraCa PEM, one or more certificates per text. Creating the context takes about 10 ms and 1 MB, so keep the
 *   result.
 */
export function createTrust(extraCa: readonly string[]): SecureContext {
  // Many are in both lists, and the system may list one several times.
  const known = new Set([...getCACertificates('default'), ...getCACertificates('system')]);
  if (extraCa.length === 0) return createSecureContext({ ca: [...known], minVersion: 'TLSv1.2' });
  // An intermediate authority in `extraCa` is trusted without its root. The system may list intermediates, too, some of them
  // of roots that are no longer trusted.
  return createSecureContext({
    ca: [...[...known].filter((pem) => isRoot(pem)), ...extraCa],
    allowPartialTrustChain: true,
    minVersion: 'TLSv1.2',
  });
}

interface Guard {
  /** Networks that may be reached in addition to public ones. */
  allow: readonly string[];
  trust: SecureContext;
  lookup: Lookup;
}

/** Refuses a name if any of its addresses is forbidden, as registration does. */
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
 * Keeps connections alive, unless `keepAlive` is false. Request options cannot weaken the guard: those for TLS, sockets and
 * proxies are ignored. TLS is not layered over an existing socket: when such a socket moves on to the next address of a
 * name, Node 24 crashes with a segmentation fault.
 */
export class GuardedAgent extends Agent {
  readonly #guard: Guard;

  constructor(guard: Guard, keepAlive = true) {
    // No limit here: webhooks that share an origin must not wait for each other, and the dispatcher limits the attempts
    // of each.
    super({ keepAlive, maxFreeSockets: MAX_FREE_SOCKETS, timeout: IDLE_MS });
    this.#guard = guard;
  }

  /** Opens a new connection for each request. */
  withoutKeepAlive(): GuardedAgent {
    return new GuardedAgent(this.#guard, false);
  }

  override createConnection(options: RequestOptions): Socket {
    const { allow, trust } = this.#guard;
    const host = (options.host ?? '').replace(/^\[|\]$/gu, '');
    const isLiteral = isIP(host) !== 0;
    const isRefused = isLiteral && !isReachable(host, allow);
    const dialling: ConnectionOptions & TcpNetConnectOpts = {
      // Sockets do not look up IP literals, so a refused one is replaced by a name whose lookup fails.
      host: isRefused ? 'refused.invalid' : host,
      lookup: isRefused ? refuse(host) : guardLookup(this.#guard),
      port: Number(options.port ?? 443),
      // SNI allows neither an address nor the trailing dot of a fully qualified name (RFC 6066 section 3).
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
    // Runs before certificate validation, because a rejected connection loses the certificate. Requesting an
    // X509Certificate here would leave Node's own check without any names (24.21).
    socket.prependOnceListener('secure', () => {
      peer = socket.getPeerCertificate(true);
    });
    // Also handles errors while no request uses the socket. Unhandled, they would end the process.
    socket.on('error', (error: HandshakeError) => {
      if (peer) error.peerChain = chainOf(peer);
    });
    return socket;
  }
}
