// The live stream as Express middleware, next to the admin endpoints and with the same authentication.
import type { Request, RequestHandler } from 'express';
import type { Actor } from '#server/platform/call.ts';
import type { EndpointAuth } from '#server/wire/endpoint.ts';
import { beginEventStream } from '#server/platform/http-reply.ts';
import { refuseMethod } from '#server/platform/mount.ts';
import type { LiveStreams } from './live-streams.ts';

interface Needs {
  streams: Pick<LiveStreams, 'open'>;
  /** Returns the caller, or throws `unauthorized`. */
  authenticate(auth: EndpointAuth, request: Request): Promise<Actor>;
  isLive(sessionId: string): Promise<boolean>;
}

export function answerLive({ streams, authenticate, isLive }: Needs): RequestHandler {
  const refuse = refuseMethod(['GET']);
  return async (request, response, next) => {
    if (request.method !== 'GET') {
      void refuse(request, response, next);
      return;
    }
    const { id: sessionId } = await authenticate('admin', request);
    const isSignedIn = async () => sessionId === undefined || isLive(sessionId);
    streams.open(response, { sessionId, isSignedIn }, () => beginEventStream(response, request.id));
  };
}
