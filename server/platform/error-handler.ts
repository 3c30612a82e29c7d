// The one place where a failure becomes a reply.
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { ApiError, type ErrorCode, failureEnvelope } from './errors.ts';
import { sendJson } from './http-reply.ts';
import type { Logger } from './logger.ts';

/** How the body parser and the router name what they refuse. */
const BODY_ERRORS: Record<string, [ErrorCode, string]> = {
  'entity.parse.failed': ['invalid_json', 'the body is not valid JSON'],
  'entity.too.large': ['payload_too_large', 'the body is larger than 64 KiB'],
  'encoding.unsupported': ['unsupported_media_type', 'the content encoding is not supported'],
  'charset.unsupported': ['unsupported_media_type', 'the charset is not supported; use UTF-8'],
  'request.aborted': ['invalid_request', 'the request was cut off'],
  'request.size.invalid': ['invalid_request', 'the body is not as long as its Content-Length'],
};

/** The database is locked for too long, its disk is full or broken, or it cannot be reached. */
function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error.name.startsWith('SequelizeConnection') ||
    /SQLITE_(BUSY|FULL|IOERR|READONLY|CANTOPEN)/u.test(error.message)
  );
}

/** The failure as its caller may see it: nothing of an unexpected one but that it happened. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Error) {
    const { type, status } = error as { type?: string; status?: number };
    const known = type === undefined ? undefined : BODY_ERRORS[type];
    if (known) return new ApiError(...known);
    if (error instanceof URIError) return new ApiError('invalid_request', 'the request cannot be read');
    // A library's word that it is the caller's fault, such as a range beyond the end of a file.
    if (status !== undefined && status >= 400 && status < 500) {
      return new ApiError('invalid_request', 'the request cannot be met', { status });
    }
  }
  if (isDatabaseUnavailable(error))
    return new ApiError('unavailable', 'the database cannot be written or reached right now; try again');
  return new ApiError('internal_error', 'something went wrong; the log has it under this request id');
}

/** The same, logged if it is unexpected. A server that sheds load has no time to log each call twice. */
export function describeFailure(logger: Logger, error: unknown, requestId: string): ApiError {
  const failure = toApiError(error);
  if (failure.status >= 500 && failure.code !== 'overloaded')
    logger.error({ request_id: requestId, err: error as Error }, failure.message);
  return failure;
}

/** Every 401 for want of a credential says which kind is wanted (RFC 9110, section 11.6.1). */
function challenge(failure: ApiError): string[] {
  return failure.code === 'unauthorized' ? ['WWW-Authenticate', 'Bearer'] : [];
}

export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error, request, response, _next) => {
    const failure = describeFailure(logger, error, request.id);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    sendJson(response, failure.status, failureEnvelope(failure, request.id), request.id, [
      ...challenge(failure),
      ...Object.entries(failure.headers).flat(),
    ]);
  };
}

export const notFound: RequestHandler = (request) => {
  throw new ApiError('not_found', `there is nothing at ${request.path}`);
};

/** @param rawHeaders names at even places, values at odd ones */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    // Most names have another length, which is cheaper to compare.
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** HTTP/1.1 requires exactly one Host, and no version allows two (RFC 9112, section 3.2). */
export const requireHost: RequestHandler = (request, _response, next) => {
  const hosts = countHosts(request.rawHeaders);
  if (hosts > 1) throw new ApiError('invalid_request', 'the request has more than one Host header');
  if (hosts === 0 && request.httpVersion === '1.1') {
    throw new ApiError('invalid_request', 'the request has no Host header');
  }
  next();
};
