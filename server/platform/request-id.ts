// Assigns an ID to each request, and logs the request when it is finished.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from './logger.ts';
import { SECRET_PREFIXES } from './secret-token.ts';

declare global {
  // The only way to add a field to Express's Request type.
  namespace Express {
    interface Request {
      id: string;
    }
  }
}

const SANE_ID = /^[\w.:-]{1,128}$/u;
/** The form of secrets, which callers may put in a path by mistake. */
const SECRET = new RegExp(String.raw`(?:${[...SECRET_PREFIXES, 'whsec_'].join('|')})[\w-]+`, 'gu');
/** Limits the size of log lines: with long paths, a caller could rotate all older lines away. */
const MAX_PATH_LENGTH = 256;
const MAX_ADDRESS_LENGTH = 64;

/** The path for the log: without the query, which may contain a one-time token, and without secrets. */
function loggedPath(url: string): string {
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  const start = path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}…` : path;
  return start.replaceAll(SECRET, '[secret]');
}

/** The caller's `X-Request-Id` if it is well-formed, otherwise a new one. */
export function chooseRequestId(given: string | readonly string[] | undefined): string {
  return typeof given === 'string' && SANE_ID.test(given) && given.search(SECRET) === -1
    ? given
    : randomUUID();
}

/**
 * Logs method, path, status and duration once the reply is finished or the connection has closed.
 * @param addressOf returns the caller's address for the log
 */
export function logWhenClosed<Received extends Pick<IncomingMessage, 'url' | 'method'>>(
  logger: Logger,
  request: Received,
  response: ServerResponse,
  id: string,
  addressOf: (request: Received) => string | undefined,
): void {
  const startedAt = performance.now();
  const { url = '' } = request;
  response.on('close', () => {
    logger.info({
      request_id: id,
      method: request.method,
      path: loggedPath(url),
      status: response.statusCode,
      ms: Math.round((performance.now() - startedAt) * 100) / 100,
      address: addressOf(request)?.slice(0, MAX_ADDRESS_LENGTH),
    });
  });
}

/** Gives each request its ID, and logs it. */
export function requestId(
  logger: Logger,
  addressOf: (request: Request) => string | undefined,
): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    request.id = chooseRequestId(request.headers['x-request-id']);
    logWhenClosed(logger, request, response, request.id, addressOf);
    next();
  };
}

/** Adds the ID to replies that are files. JSON replies have it already. */
export const carryRequestId: RequestHandler = (request, response, next) => {
  response.setHeader('X-Request-Id', request.id);
  next();
};
