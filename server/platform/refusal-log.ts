// Records refused credentials in the security log.
import type { ErrorRequestHandler, Request } from 'express';
import { ApiError } from '#server/wire/errors.ts';
import type { RefusedCredential, SecurityLog } from './security-log.ts';

interface Needs {
  security: Pick<SecurityLog, 'refused'>;
  addressOf(request: Request): string | undefined;
  /** The kind of credential of a call that was rejected with 401; null if it had none. */
  credentialOf(request: Request): RefusedCredential | null;
}

function refusedCredential(
  error: unknown,
  request: Request,
  { credentialOf }: Needs,
): RefusedCredential | null {
  if (!(error instanceof ApiError)) return null;
  if (error.code === 'download_token_invalid') return 'download_token';
  return error.code === 'unauthorized' ? credentialOf(request) : null;
}

export function logRefusals(needs: Needs): ErrorRequestHandler {
  return (error, request, _response, next) => {
    const credential = refusedCredential(error, request, needs);
    if (credential) needs.security.refused(credential, needs.addressOf(request), request.id);
    next(error);
  };
}
