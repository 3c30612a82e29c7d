// Calls to a license server, as client software makes them: with a license key instead of an API token.
import type { ReplyOf } from '#server/wire/endpoint.ts';
import type { leaseContract, QueuedCheckout } from '#server/features/leases/lease-contract.ts';
import { request as httpRequest } from '#server/platform/node-http.ts';
import { usageFailure } from '../command-failure.ts';

/** As in `publicContract`, whose import would load every endpoint. */
const API_ROOT = '/license/api/svc';

/** For one call. A server that needs longer is treated as unreachable. */
const TIMEOUT_MS = 15_000;

const CERTIFICATE_PROBLEM = /^(?:DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|CERT_|ERR_TLS_CERT)/u;

/** What the server refused. */
export interface Refusal {
  error_code: string;
  message: string;
  /** Of a lease that has ended. */
  reason?: string;
  status: number;
  retryAfterMs: number | null;
}

export type CheckoutReply = ReplyOf<typeof leaseContract.checkoutLease>;
export type HeartbeatReply = ReplyOf<typeof leaseContract.heartbeatLeases>;
export type { QueuedCheckout };

/** No answer, or not one of License Desk: worth another try. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  /** A certificate that is not trusted stays so. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal = false) {
    super(message);
    this.isFinal = isFinal;
  }
}

export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export interface LeaseCalls {
  /** @throws UnreachableError, RefusedError */
  checkout(input: object, signal?: AbortSignal): Promise<CheckoutReply | QueuedCheckout>;
  heartbeat(token: string, signal?: AbortSignal): Promise<HeartbeatReply>;
  release(token: string, signal?: AbortSignal): Promise<object>;
}

/** @throws CommandFailure for a URL that is none */
function apiRoot(server: string): URL {
  let url: URL;
  try {
    url = new URL(server);
  } catch {
    throw usageFailure(`--server must be a URL such as https://licenses.example:8787 (got ${server})`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw usageFailure(`--server must begin with http:// or https:// (got ${server})`);
  if (url.pathname === '/') url.pathname = API_ROOT;
  url.pathname = url.pathname.replace(/\/+$/u, '');
  return url;
}

function describe(error: NodeJS.ErrnoException): UnreachableError {
  const code = error.code ?? '';
  if (!CERTIFICATE_PROBLEM.test(code)) return new UnreachableError(error.message || code);
  const hint = 'name the CA certificate with --ca';
  return new UnreachableError(`the certificate of the server is not trusted (${code}); ${hint}`, true);
}

function retryAfterMs(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,6}$/u.test(header) ? Number(header) * 1000 : null;
}

/** @param ca additional CA certificates (PEM) */
export function createLeaseCalls(server: string, ca: string | undefined): LeaseCalls {
  const root = apiRoot(server);
  const isTls = root.protocol === 'https:';
  const request = isTls ? process.getBuiltinModule('node:https').request : httpRequest;
  const trusted =
    isTls && ca !== undefined
      ? { ca: [...process.getBuiltinModule('node:tls').getCACertificates('default'), ca] }
      : {};

  function send(path: string, input: object, signal?: AbortSignal): Promise<object> {
    const body = JSON.stringify(input);
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    return new Promise((resolve, reject) => {
      const sent = request(
        `${root.href}${path}`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
          agent: false,
          signal: signal ? AbortSignal.any([signal, limit]) : limit,
          ...trusted,
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => (text += part));
          response.once('error', (error) => reject(describe(error)));
          response.once('end', () => {
            const status = response.statusCode ?? 0;
            try {
              resolve(readReply(text, status, retryAfterMs(response.headers['retry-after'])));
            } catch (error) {
              reject(error as Error);
            }
          });
        },
      );
      sent.once('error', (error) => {
        const isLate = limit.aborted && signal?.aborted !== true;
        reject(
          isLate ? new UnreachableError(`no reply within ${TIMEOUT_MS / 1000} seconds`) : describe(error),
        );
      });
      sent.end(body);
    });
  }

  return {
    checkout: (input, signal) =>
      send('/leases/checkout/', input, signal) as ReturnType<LeaseCalls['checkout']>,
    heartbeat: (token, signal) =>
      send('/leases/heartbeat/', { lease_token: token }, signal) as Promise<HeartbeatReply>,
    release: (token, signal) => send('/leases/release/', { lease_token: token }, signal),
  };
}

/** @throws UnreachableError if a proxy answers instead of the server; RefusedError */
function readReply(text: string, status: number, retryAfter: number | null): object {
  let reply: { ok?: unknown } & Partial<Refusal>;
  try {
    reply = JSON.parse(text) as typeof reply;
  } catch {
    throw new UnreachableError(`the reply is not from a License Desk server (status ${status})`);
  }
  if (reply.ok === true) return reply;
  const { error_code: code = 'internal_error', message = `status ${status}`, reason } = reply;
  throw new RefusedError({
    error_code: code,
    message,
    status,
    retryAfterMs: retryAfter,
    ...(reason === undefined ? {} : { reason }),
  });
}

/** Whether the same call may succeed later. */
export function isTemporary(error: unknown): error is UnreachableError | RefusedError {
  if (error instanceof UnreachableError) return !error.isFinal;
  return error instanceof RefusedError && (error.refusal.status >= 500 || error.refusal.status === 429);
}
