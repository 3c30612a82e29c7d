// The one place where a failure becomes a reply.
import type { Socket } from 'node:net';
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

function isBusy(error: unknown): boolean {
  return error instanceof Error && /SQLITE_(BUSY|FULL|IOERR|READONLY)|ECONNREFUSED/u.test(error.message);
}

/** The failure as its caller may see it: nothing of an unexpected one but that it happened. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Error) {
    const { type, status } = error as { type?: string; status?: number };
    const known = type === undefined ? undefined : BODY_ERRORS[type];
    if (known) return new ApiError(...known);
    if (status === 400 || error instanceof URIError)
      return new ApiError('invalid_request', 'the request cannot be read');
  }
  if (isBusy(error))
    return new ApiError('unavailable', 'the database cannot be written or reached right now; try again');
  return new ApiError('internal_error', 'something went wrong; the log has it under this request id');
}

export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error, request, response, _next) => {
    const failure = toApiError(error);
    if (failure.status >= 500) logger.error({ request_id: request.id, err: error as Error }, failure.message);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    sendJson(
      response,
      failure.status,
      failureEnvelope(failure, request.id),
      request.id,
      Object.entries(failure.headers).flat(),
    );
  };
}

export const notFound: RequestHandler = (request) => {
  throw new ApiError('not_found', `there is nothing at ${request.path}`);
};

/** What Node's HTTP parser refuses before there is a request: the same envelope, written by hand. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  const failure = new ApiError('invalid_request', 'this is not a readable HTTP request');
  const body = JSON.stringify(failureEnvelope(failure));
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
