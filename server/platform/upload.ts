// Receives a file in the request body piece by piece, without loading all of it.
import type { IncomingMessage } from 'node:http';
import type { Upload } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';

const CHARSET = /;\s*charset\s*=\s*"?([\w-]+)/iu;

function refuseOtherKind({ headers }: IncomingMessage, contentType: string): void {
  const type = headers['content-type'] ?? '';
  if (type.split(';')[0]?.trim().toLowerCase() !== contentType)
    throw new ApiError('unsupported_media_type', `the body must be ${contentType}`);
  if (!/^utf-?8$/iu.test(CHARSET.exec(type)?.[1] ?? 'utf-8'))
    throw new ApiError('unsupported_media_type', 'the charset is not supported; use UTF-8');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new ApiError('unsupported_media_type', 'the content encoding is not supported');
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('payload_too_large', `the file is larger than ${maxBytes / 1_048_576} MB`);
}

/**
 * Yields the bytes as they arrive, up to the end of the body. A caller that disconnects early causes an error.
 * @throws ApiError `unsupported_media_type` or `payload_too_large`; the latter possibly between two pieces
 */
export function receiveFile(
  request: IncomingMessage,
  { contentType, maxBytes }: Upload,
): AsyncIterable<Buffer> {
  refuseOtherKind(request, contentType);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  return pieces(request, maxBytes);
}

async function* pieces(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  let received = 0;
  // Not destroyed when abandoned early: the connection still has to carry the reply with the reason.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  try {
    for await (const piece of body) {
      received += piece.length;
      if (received > maxBytes) throw tooLarge(maxBytes);
      yield piece;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    throw new ApiError('invalid_request', 'the request was cut off');
  }
}
