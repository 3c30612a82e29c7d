// Receivers on loopback, good ones and bad ones.
import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import {
  createServer as createHttpsServer,
  type Server as HttpsServer,
  type ServerOptions,
} from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Identity } from './certificate-authority.ts';

export interface Receiver {
  port: number;
  /** `https://127.0.0.1:<port>/hook` */
  url: string;
  /** TCP connections so far. */
  connections: number;
  /** Requests that came in whole. */
  requests: { request: IncomingMessage; body: string }[];
}

async function listen(server: Server | HttpsServer, host: string, at = 0): Promise<Receiver> {
  const sockets = new Set<Socket>();
  server.listen(at, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = { port, url: `https://127.0.0.1:${port}/hook`, connections: 0, requests: [] };
  server.on('connection', (socket: Socket) => {
    receiver.connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  onTestFinished(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  });
  return receiver;
}

/** Answers over TLS as `answer` says, for the time of one test. */
export async function startReceiver(
  identity: Identity,
  answer: RequestListener = (_request, response) => response.end('thanks'),
  options: ServerOptions & { host?: string; port?: number } = {},
): Promise<Receiver> {
  const server = createHttpsServer({ ...identity, ...options });
  const receiver = await listen(server, options.host ?? '127.0.0.1', options.port);
  server.on('tlsClientError', () => undefined);
  server.on('request', (request, response) => {
    text(request).then(
      (body) => {
        receiver.requests.push({ request, body });
        answer(request, response);
      },
      () => undefined,
    );
  });
  return receiver;
}

/** Speaks whatever `onSocket` says, without TLS, for the time of one test. */
export function startTcpServer(onSocket: (socket: Socket) => void, host = '127.0.0.1'): Promise<Receiver> {
  return listen(createTcpServer(onSocket), host);
}
