// Converts failures to replies.
import type { ServerResponse } from 'node:http';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { ApiError, type ErrorCode, failureEnvelope } from '#server/wire/errors.ts';
import { type DatabaseFault, faultOf, isOutOfSpace } from './database-fault.ts';
import { sendJson } from './http-reply.ts';
import type { Logger } from './logger.ts';

/** Error types of the body parser and the router. */
const BODY_ERRORS: Record<string, [ErrorCode, string]> = {
  'entity.parse.failed': ['invalid_json', 'the body is not valid JSON'],
  'entity.too.large': ['payload_too_large', 'the body is larger than 64 KiB'],
  'encoding.unsupported': ['unsupported_media_type', 'the content encoding is not supported'],
  'charset.unsupported': ['unsupported_media_type', 'the charset is not supported; use UTF-8'],
  'request.aborted': ['invalid_request', 'the request was cut off'],
  'request.size.invalid': ['invalid_request', 'the body is not as long as its Content-Length'],
};

/** Message for clients when the database is unusable, and the seconds after which a retry may succeed. */
const FAULTS: Readonly<Record<DatabaseFault, [message: string, retryAfter: number]>> = {
  busy: ['the database is busy or locked by another program; retry in a few seconds', 2],
  damaged: ['the database is damaged and has to be restored', 60],
  full: ['the disk is full: changes cannot be saved until it has free space', 30],
  gone: ['the data directory is missing or was replaced: changes cannot be saved', 60],
  io: ['the disk of the database cannot be read or written', 30],
  moved: ['the database has been moved: restart this server, which refuses changes until then', 10],
  moving: ['the database is being moved: changes are refused for a short time', 10],
  outdated: ['a newer version has migrated the database; upgrade this server', 10],
  read_only: ['the database is read-only: changes cannot be saved', 30],
  unreachable: ['the database cannot be reached; retry in a few seconds', 5],
};

function databaseUnavailable(fault: DatabaseFault): ApiError {
  const [message, retryAfter] = FAULTS[fault];
  return new ApiError('unavailable', message, { headers: { 'Retry-After': String(retryAfter) } });
}

/** A full disk is one for any file, such as config.json. */
const faultOfCall = (error: unknown): DatabaseFault | null =>
  faultOf(error) ?? (isOutOfSpace(error) ? 'full' : null);

const PROGRAM_REPLACED = 'the program files of this server were replaced or removed; restart the server';

/** Some code is loaded when it is first used. An update that does not restart the server takes its files away. */
const isProgramReplaced = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'ERR_MODULE_NOT_FOUND';

/** The failure as the caller may see it. Details of unexpected errors are hidden. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Error) {
    const { type, status } = error as { type?: string; status?: number };
    const known = type === undefined ? undefined : BODY_ERRORS[type];
    if (known) return new ApiError(...known);
    if (error instanceof URIError) return new ApiError('invalid_request', 'the request cannot be read');
    // A library's client error, such as a range beyond the end of a file.
    if (status !== undefined && status >= 400 && status < 500) {
      return new ApiError('invalid_request', 'the request cannot be fulfilled', { status });
    }
  }
  const fault = faultOfCall(error);
  if (fault) return databaseUnavailable(fault);
  if (isProgramReplaced(error)) return new ApiError('unavailable', PROGRAM_REPLACED);
  return new ApiError('internal_error', 'internal error; see the log for this request ID');
}

/** A fault that no call has met for this long is over: the next one is a new outage. */
const OUTAGE_ENDS_MS = 60_000;
/** When a call last met a fault, by the log that it went to. */
const lastMet = new WeakMap<Logger, Map<DatabaseFault, number>>();

function isNewOutage(logger: Logger, fault: DatabaseFault): boolean {
  const met = lastMet.get(logger) ?? new Map<DatabaseFault, number>();
  lastMet.set(logger, met);
  const since = performance.now() - (met.get(fault) ?? Number.NEGATIVE_INFINITY);
  met.set(fault, performance.now());
  return since > OUTAGE_ENDS_MS;
}

/**
 * The same, but logs unexpected failures. Overload is not logged per call, to save time. In an outage of the database, only
 * the first call logs the error: it is the same for all.
 */
export function describeFailure(logger: Logger, error: unknown, requestId: string): ApiError {
  const failure = toApiError(error);
  if (failure.status < 500 || failure.code === 'overloaded') return failure;
  const fault = faultOfCall(error);
  const about = { request_id: requestId, ...(fault === null ? {} : { fault }) };
  const isKnown = fault !== null && !isNewOutage(logger, fault);
  logger.error(isKnown ? about : { ...about, err: error as Error }, failure.message);
  return failure;
}

/** A 401 for a missing or invalid credential names the expected kind (RFC 9110, section 11.6.1). */
function challenge(failure: ApiError): string[] {
  return failure.code === 'unauthorized' ? ['WWW-Authenticate', 'Bearer'] : [];
}

/** Replies with the failure, or cuts off a reply that has already begun. */
export function sendFailure(
  logger: Logger,
  error: unknown,
  response: ServerResponse,
  requestId: string,
): void {
  const failure = describeFailure(logger, error, requestId);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  sendJson(response, failure.status, failureEnvelope(failure, requestId), requestId, [
    ...challenge(failure),
    ...Object.entries(failure.headers).flat(),
  ]);
}

export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error, request, response, _next) => sendFailure(logger, error, response, request.id);
}

export const notFound: RequestHandler = (request) => {
  throw new ApiError('not_found', `no endpoint at ${request.path}`);
};

/** @param rawHeaders names at even indices, values at odd ones */
export function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    // Comparing the length first is cheaper; most names differ in it.
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** HTTP/1.1 requires exactly one Host header, and no version allows two (RFC 9112, section 3.2). */
export const requireHost: RequestHandler = (request, _response, next) => {
  const hosts = countHosts(request.rawHeaders);
  if (hosts > 1) throw new ApiError('invalid_request', 'the request has more than one Host header');
  if (hosts === 0 && request.httpVersion === '1.1') {
    throw new ApiError('invalid_request', 'the request has no Host header');
  }
  next();
};
