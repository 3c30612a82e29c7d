// Assigns an ID to each request, and logs the request when it is finished.
import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from './logger.ts';

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
const SECRET = /(?:ld[dkt]_|whsec_)[\w-]+/gu;
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

/**
 * Uses the caller's `X-Request-Id` if it is well-formed, otherwise creates one. Logs method, path, status and duration.
 * @param addressOf returns the caller's address for the log
 */
export function requestId(
  logger: Logger,
  addressOf: (request: Request) => string | undefined,
): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const given = request.headers['x-request-id'];
    request.id =
      typeof given === 'string' && SANE_ID.test(given) && given.search(SECRET) === -1 ? given : randomUUID();
    const startedAt = performance.now();
    const { originalUrl } = request;
    response.on('close', () => {
      logger.info({
        request_id: request.id,
        method: request.method,
        path: loggedPath(originalUrl),
        status: response.statusCode,
        ms: Math.round((performance.now() - startedAt) * 100) / 100,
        address: addressOf(request)?.slice(0, MAX_ADDRESS_LENGTH),
      });
    });
    next();
  };
}

/** Adds the ID to replies that are files. JSON replies have it already. */
export const carryRequestId: RequestHandler = (request, response, next) => {
  response.setHeader('X-Request-Id', request.id);
  next();
};
