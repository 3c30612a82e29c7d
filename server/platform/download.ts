// Calls a row that answers with a file, over HTTP: piece by piece, as it may be larger than memory.
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { partsOf, toFailure } from '#server/wire/client.ts';
import type { DocumentParts } from './document.ts';
import type { Endpoint } from '#server/wire/endpoint.ts';
import { ApiError, type FailureEnvelope } from '#server/wire/errors.ts';
import { request } from './node-http.ts';

/**
 * Not by `fetch`: Node's fails an assertion of its own, which nobody can catch, when a reply that is read slowly is cut off.
 * @param root where the paths begin, without a trailing slash
 */
export function httpDownload(root: string, headers: Record<string, string>) {
  return async (row: Endpoint, input: object): Promise<DocumentParts> => {
    const { query, body, contentType } = partsOf(row, input);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(root + row.path + query, {
        method: row.method,
        headers: contentType === undefined ? headers : { ...headers, 'content-type': contentType },
      });
      sent.once('response', resolve).once('error', reject);
      sent.end(body);
    });
    if (response.statusCode !== 200)
      throw toFailure((await json(response)) as FailureEnvelope, response.statusCode ?? 500);
    return whole(response);
  };
}

/** @throws ApiError if it ends before its time */
async function* whole(response: IncomingMessage): DocumentParts {
  try {
    yield* response;
  } catch {
    throw new ApiError('unavailable', 'the server ended before all of the file had come; try again');
  }
}
