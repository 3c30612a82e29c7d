// Describes why an attempt failed, for administrators.
import { X509Certificate } from 'node:crypto';
import { TimeoutError } from 'got';
import { ApiError } from '#server/wire/errors.ts';
import { maskPasswords } from '#server/platform/mask-passwords.ts';
import { ForbiddenAddressError, type HandshakeError } from './guarded-agent.ts';
import { plainText } from './plain-text.ts';

const MAX_MESSAGE = 200;

/** The kind of failure. `stopped` is the service's own and says nothing about the receiver. */
export type FailureClass =
  | 'forbidden_address'
  | 'name_resolution'
  | 'connection'
  | 'certificate'
  | 'tls'
  | 'timeout'
  | 'redirect'
  | 'http_status'
  | 'bad_reply'
  | 'stopped'
  | 'other';

export interface Failure {
  errorClass: FailureClass;
  /** One line without control characters, at most 200 characters. */
  message: string;
}

interface FailureContext {
  /** As written in the URL. */
  host: string;
  /** Epoch milliseconds. */
  now: number;
  /** The total timeout. */
  timeoutMs: number;
}

type Words = string | ((error: HandshakeError, context: FailureContext) => string);

/** By `code` from Node, OpenSSL, BoringSSL (in Electron) and llhttp; a trailing `*` matches anything. */
const BY_CODE: readonly [errorClass: FailureClass, words: Words, codes: readonly string[]][] = [
  ['name_resolution', 'name does not resolve', ['ENOTFOUND', 'EAI_NODATA', 'EAI_NONAME']],
  ['name_resolution', 'name does not resolve: the name server does not answer', ['EAI_*']],
  ['connection', 'connection refused', ['ECONNREFUSED']],
  ['connection', 'no route to the receiver', ['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EHOSTDOWN']],
  ['connection', 'connection not permitted by this machine', ['EACCES', 'EPERM']],
  ['connection', closedWords, ['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']],
  ['timeout', 'no connection: the receiver does not answer', ['ETIMEDOUT']],
  ['certificate', expiredWords, ['CERT_HAS_EXPIRED']],
  ['certificate', notYetWords, ['CERT_NOT_YET_VALID']],
  ['certificate', selfSignedWords, ['DEPTH_ZERO_SELF_SIGNED_CERT']],
  [
    'certificate',
    unknownAuthorityWords,
    [
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_GET_ISSUER_CERT*',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'CERT_UNTRUSTED',
    ],
  ],
  ['certificate', otherNameWords, ['ERR_TLS_CERT_ALTNAME_*', 'HOSTNAME_MISMATCH']],
  ['certificate', 'certificate is not meant for servers', ['INVALID_PURPOSE', 'CERT_REJECTED']],
  ['certificate', 'certificate has a weak key or signature', ['*_KEY_TOO_SMALL', '*_MD_TOO_WEAK']],
  ['certificate', 'certificate is revoked', ['CERT_REVOKED']],
  ['certificate', 'certificate was not signed by the authority it names', ['CERT_SIGNATURE_FAILURE']],
  [
    'tls',
    'TLS version too old: the receiver must offer TLS 1.2 or later',
    ['*ALERT_PROTOCOL_VERSION', 'ERR_SSL_UNSUPPORTED_PROTOCOL', 'ERR_SSL_VERSION_TOO_LOW'],
  ],
  [
    'tls',
    'receiver does not use TLS on this port',
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'ERR_SSL_HTTP_REQUEST'],
  ],
  ['tls', 'receiver requires a client certificate', ['*ALERT_CERTIFICATE_REQUIRED']],
  ['tls', 'TLS handshake failed: no common cipher or version', ['*ALERT_HANDSHAKE_FAILURE']],
  [
    'tls',
    (error) => `TLS failed: ${reasonOf(error) ?? error.message}`,
    ['ERR_SSL_*', 'ERR_TLS_*', 'ERR_OSSL_*', 'EPROTO'],
  ],
  ['bad_reply', 'reply has headers that are too long', ['HPE_HEADER_OVERFLOW']],
  ['bad_reply', 'reply is not HTTP', ['HPE_*']],
  ['stopped', 'the service was stopped before an answer', ['ERR_ABORTED']],
];

function matches(code: string, pattern: string): boolean {
  if (pattern.startsWith('*')) return code.endsWith(pattern.slice(1));
  return pattern.endsWith('*') ? code.startsWith(pattern.slice(0, -1)) : code === pattern;
}

/** OpenSSL's description from `…:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:…`. */
function reasonOf({ message }: Error): string | undefined {
  return /:SSL routines:[^:]*:([^:]+)/u.exec(message)?.[1];
}

/** While writing, Node reports TLS errors as EPROTO. This maps them to the codes that they have while reading. */
function codeOf(root: HandshakeError, outermost: unknown): string {
  const reason = reasonOf(root);
  if (root.code === 'EPROTO' && reason) return `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}`;
  if (root.name === 'AbortError') return 'ERR_ABORTED';
  return String(root.code ?? (outermost as HandshakeError).code ?? '');
}

const day = (date: Date): string => date.toISOString().slice(0, 10);

function certificatesOf({ peerChain = [] }: HandshakeError): X509Certificate[] {
  try {
    return peerChain.map((der) => new X509Certificate(der));
  } catch {
    return [];
  }
}

function nameIn(distinguishedName: string): string {
  return /^CN=(.+)$/mu.exec(distinguishedName)?.[1] ?? distinguishedName.replaceAll('\n', ', ');
}

function expiredWords(error: HandshakeError, { now }: FailureContext): string {
  const chain = certificatesOf(error);
  const expired = chain.find(({ validToDate }) => validToDate.getTime() < now);
  if (!expired) return 'certificate expired';
  const whose =
    expired === chain[0] ? 'certificate' : `certificate of its authority ${nameIn(expired.subject)}`;
  return `${whose} expired on ${day(expired.validToDate)}`;
}

function notYetWords(error: HandshakeError, { now }: FailureContext): string {
  const early = certificatesOf(error).find(({ validFromDate }) => validFromDate.getTime() > now);
  return early
    ? `certificate is not valid before ${day(early.validFromDate)}`
    : 'certificate is not valid yet';
}

function selfSignedWords(error: HandshakeError): string {
  const [own] = certificatesOf(error);
  const name = own ? ` (${nameIn(own.subject)})` : '';
  return `certificate is self-signed${name}; give it as the CA of this webhook to trust it`;
}

function unknownAuthorityWords(error: HandshakeError): string {
  const last = certificatesOf(error).at(-1);
  const name = last ? ` (${nameIn(last.issuer)})` : '';
  return `certificate is issued by an unknown authority${name}`;
}

function otherNameWords(error: HandshakeError, { host }: FailureContext): string {
  const [own] = certificatesOf(error);
  const names = (own?.subjectAltName ?? '')
    .split(', ')
    .map((name) => name.replace(/^(?:DNS|IP Address):/u, ''))
    .filter(Boolean);
  if (names.length > 3) names.splice(3, names.length, '…');
  return `certificate is for ${names.join(', ') || 'no name'}, not for ${host}`;
}

function closedWords(error: HandshakeError): string {
  if (error.message.includes('before secure TLS')) return 'connection was closed during the TLS handshake';
  if (error.syscall === 'read' || error.syscall === 'write') return 'connection was reset before an answer';
  return 'connection was closed before an answer';
}

const seconds = (ms: number): string => `${ms / 1000} s`;

function timeoutWords({ event, message }: TimeoutError, timeoutMs: number): string {
  const within = /(\d+)ms$/u.exec(message)?.[1];
  const limit = seconds(within === undefined ? timeoutMs : Number(within));
  if (event === 'lookup') return `name did not resolve within ${limit}`;
  if (event === 'connect') return `no connection within ${limit}`;
  if (event === 'secureConnect') return `no TLS handshake within ${limit}`;
  return `no answer within ${seconds(timeoutMs)}`;
}

/** Unwraps errors that got wraps around those of sockets. */
function rootOf(error: unknown): unknown {
  let root = error;
  for (let depth = 0; depth < 5 && root instanceof Error && root.cause instanceof Error; depth++)
    root = root.cause;
  return root;
}

function classify(error: unknown, context: FailureContext): Failure {
  if (error instanceof TimeoutError) {
    return { errorClass: 'timeout', message: timeoutWords(error, context.timeoutMs) };
  }
  const root = rootOf(error);
  if (!(root instanceof Error)) return { errorClass: 'other', message: String(root) };
  if (root instanceof ForbiddenAddressError || root instanceof ApiError) {
    return { errorClass: 'forbidden_address', message: root.message };
  }
  const code = codeOf(root, error);
  for (const [errorClass, words, codes] of BY_CODE) {
    if (!codes.some((pattern) => matches(code, pattern))) continue;
    return { errorClass, message: typeof words === 'string' ? words : words(root, context) };
  }
  return { errorClass: 'other', message: root.message };
}

/** Describes why there was no reply: an error of got, a socket, TLS or the address guard. */
export function describeFailure(error: unknown, context: FailureContext): Failure {
  const { errorClass, message } = classify(error, context);
  return { errorClass, message: plainText(message, MAX_MESSAGE) };
}

/**
 * Describes why a reply is not a success; null for 2xx.
 * @param location of a redirect, as the receiver sent it
 */
export function describeReply(status: number, location: string | undefined): Failure | null {
  if (status >= 200 && status < 300) return null;
  if (status < 300 || status >= 400 || location === undefined) {
    return { errorClass: 'http_status', message: `HTTP ${status}` };
  }
  const end = ' not followed';
  const start = plainText(`redirect to ${maskPasswords(location)}`, MAX_MESSAGE - end.length);
  return { errorClass: 'redirect', message: start + end };
}
