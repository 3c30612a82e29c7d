// HTTP requests that no well-behaved client makes: any method, any path, any header, bodies byte for byte.
import { Agent, request } from 'node:http';

export interface RawRequest {
  method: string;
  /** As on the request line: neither checked nor normalised. */
  path: string;
  headers?: Record<string, string | string[]>;
  body?: string | Uint8Array;
}

export interface RawReply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export interface RawClient {
  send(request: RawRequest): Promise<RawReply>;
  close(): void;
}

/** @param origin `http://127.0.0.1:PORT` */
export function rawClient(origin: string): RawClient {
  const { hostname, port } = new URL(origin);
  const agent = new Agent({ keepAlive: true });
  return {
    close: () => agent.destroy(),
    send: ({ method, path, headers = {}, body }) =>
      new Promise((done, failed) => {
        // Left to itself, Node sends the body of a GET or HEAD without saying that there is one.
        const isSized = body === undefined || 'transfer-encoding' in headers;
        const length: Record<string, string> = isSized
          ? {}
          : { 'content-length': String(Buffer.byteLength(body)) };
        const options = { agent, hostname, port, method, path, headers: { ...length, ...headers } };
        const call = request(options, (reply) => {
          let text = '';
          reply.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          reply.once('error', failed);
          reply.once('end', () => done({ status: reply.statusCode ?? 0, headers: reply.headers, text }));
        });
        call.once('error', failed);
        call.end(body);
      }),
  };
}
