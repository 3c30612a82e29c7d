// Replies without a usable response object: to malformed requests, and to connections beyond the limit.
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { ApiError, failureEnvelope } from '#server/wire/errors.ts';
import type { Logger } from './logger.ts';
import { STATUS_CODES } from './node-http.ts';

function replyBytes(failure: ApiError, requestId: string): string {
  const body = JSON.stringify(failureEnvelope(failure, requestId));
  const headers = Object.entries(failure.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return (
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\nConnection: close\r\n${headers.join('')}` +
    `X-Request-Id: ${requestId}\r\nContent-Type: application/json; charset=utf-8\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** Writes the failure to a bare socket and ends it. */
export function endWithFailure(socket: Duplex, failure: ApiError, logger: Logger): void {
  const requestId = randomUUID();
  logger.info({ request_id: requestId, status: failure.status }, failure.message);
  socket.end(replyBytes(failure, requestId));
}

/** The same for every rejected connection: prepared once and not logged, so that rejecting is cheap. */
export const CONNECTION_REFUSED = Buffer.from(
  replyBytes(
    new ApiError('overloaded', 'too many connections; retry later', { headers: { 'Retry-After': '5' } }),
    randomUUID(),
  ),
);
