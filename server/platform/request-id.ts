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
      const query = originalUrl.indexOf('?');
      logger.info({
        request_id: request.id,
        method: request.method,
        // The query may hold a one-time token.
        path: (query === -1 ? originalUrl : originalUrl.slice(0, query)).replaceAll(SECRET, '[secret]'),
        status: response.statusCode,
        ms: Math.round((performance.now() - startedAt) * 100) / 100,
        address: addressOf(request),
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
