// Calls from Node itself. `fetch` would do, but loading it takes longer than a command of the CLI has to do.
import { text } from 'node:stream/consumers';
import type { Send } from '#server/wire/client.ts';
import { request } from './node-http.ts';

export const nodeSend: Send = async (url, { method, headers, body }) => {
  const bytes = body instanceof Blob ? Buffer.from(await body.arrayBuffer()) : body;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      resolve({
        status: response.statusCode ?? 0,
        json: async () => JSON.parse(await text(response)) as unknown,
      });
    });
    sent.once('error', reject);
    sent.end(bytes);
  });
};
