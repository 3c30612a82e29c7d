// HTTP calls from Node. Loading `fetch` takes longer than a CLI command, and when a slowly read reply is cut off, it
// fails an internal assertion that cannot be caught.
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Send } from '#server/wire/client.ts';
import { ApiError } from '#server/wire/errors.ts';
import { request } from './node-http.ts';

/** A server takes connections, and does not answer in time: it was suspended, or hangs. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** @throws ApiError if the reply ends early */
async function* bytesOf(response: IncomingMessage): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    yield* response as AsyncIterable<Uint8Array<ArrayBuffer>>;
  } catch {
    throw new ApiError('unavailable', 'the connection closed before the file was complete; try again');
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

/** For calls that a server answers at once, unless it hangs. @throws NoAnswerError */
export const nodeSendWithin =
  (ms: number): Send =>
  async (url, sent) => {
    const signal = AbortSignal.timeout(ms);
    const rename = (error: unknown): never => {
      throw signal.aborted ? new NoAnswerError(`no answer within ${ms / 1000} s`, { cause: error }) : error;
    };
    const reply = await nodeSend(url, { ...sent, signal }).catch(rename);
    return { ...reply, json: () => reply.json().catch(rename) };
  };
