// Calls from Node itself. `fetch` takes longer to load than a command of the CLI has to do, and it fails an assertion of its
// own, which nobody can catch, when a reply that is read slowly is cut off.
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Send } from '#server/wire/client.ts';
import { ApiError } from '#server/wire/errors.ts';
import { request } from './node-http.ts';

/** @throws ApiError if it ends early */
async function* bytesOf(response: IncomingMessage): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    yield* response as AsyncIterable<Uint8Array<ArrayBuffer>>;
  } catch {
    throw new ApiError('unavailable', 'the server ended before all of the file had come; try again');
  }
}

export const nodeSend: Send = async (url, { method, headers, body, signal }) => {
  const bytes = body instanceof Blob ? Buffer.from(await body.arrayBuffer()) : body;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, ...(signal && { signal }) }, (response) => {
      resolve({
        status: response.statusCode ?? 0,
        headers: { get: (name) => response.headers[name.toLowerCase()]?.toString() ?? null },
        json: async () => JSON.parse(await text(response)) as unknown,
        bytes: () => bytesOf(response),
      });
    });
    sent.once('error', reject);
    sent.end(bytes);
  });
};
