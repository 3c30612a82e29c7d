// Requests that `fetch` refuses to make: any Host, any method, bytes that are no HTTP at all.
import { type Agent, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Reply } from './test-server.ts';

export interface RawReply {
  status: number;
  /** By lower-case name. */
  headers: Headers;
  text: string;
}

interface HttpCall {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** For HTTPS. */
  agent?: Agent;
}

/** One request by node:http, which sends what it is given. */
export async function httpCall(
  url: string,
  { method = 'GET', headers = {}, body, agent }: HttpCall = {},
): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    // Node leaves the length of a DELETE's body unsaid.
    const length =
      body === undefined || 'transfer-encoding' in headers
        ? {}
        : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = request(
      url,
      { method, headers: { ...length, ...headers }, agent: agent ?? false },
      (response) => {
        text(response).then((content) => {
          const given = Object.entries(response.headersDistinct).map(([name, values]) => [
            name,
            (values ?? []).join(', '),
          ]);
          resolve({
            status: response.statusCode ?? 0,
            headers: new Headers(given as [string, string][]),
            text: content,
          });
        }, reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** The same with its JSON read. */
export async function jsonCall(url: string, call: HttpCall = {}): Promise<Reply> {
  const { text: content, ...reply } = await httpCall(url, call);
  return { ...reply, body: content === '' ? null : (JSON.parse(content) as unknown) };
}

/**
 * Writes the bytes and reads until the server closes the connection.
 * @param ended also ends our side once all is written
 */
export async function exchangeBytes(url: string, bytes: string | Buffer, ended = false): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () => {
      if (ended) socket.end(bytes);
      else socket.write(bytes);
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => socket.end());
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

/** Takes the one reply apart that the bytes hold. */
export function readReply(bytes: string): Reply {
  const end = bytes.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = bytes.slice(0, end).split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const content = bytes.slice(end + 4);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /u.exec(statusLine)?.[1]),
    headers,
    body: content === '' ? null : (JSON.parse(content) as unknown),
  };
}
