// Gives each request its id and, when it is over, its line in the log.
import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from './logger.ts';

declare global {
  // The only way to add a field to Express's Request.
  namespace Express {
    interface Request {
      id: string;
    }
  }
}

const SANE_ID = /^[\w.:-]{1,128}$/u;
/** What our secrets look like, for callers who put one where none belongs. */
const SECRET = /(?:ld[dkt]_|whsec_)[\w-]+/gu;
/** Callers must not decide how much room their lines take: with long paths, one could rotate the whole log away. */
const MAX_PATH_LENGTH = 256;
const MAX_ADDRESS_LENGTH = 64;

/** The path as it may be logged: without the query, which may hold a one-time token, and without secrets. */
function loggedPath(url: string): string {
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  const start = path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}…` : path;
  return start.replaceAll(SECRET, '[secret]');
}

/**
 * Takes the caller's `X-Request-Id` if it is sane, else makes one; logs method, path, status and time taken.
 * @param addressOf the caller's address as the log has it
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

/** Puts the id on replies that are files; JSON replies bring it along. */
export const carryRequestId: RequestHandler = (request, response, next) => {
  response.setHeader('X-Request-Id', request.id);
  next();
};
