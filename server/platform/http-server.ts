// HTTP and HTTPS servers that answer in the envelope even what never becomes a request of the application.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ConfigError } from './config.ts';
import { ApiError, failureEnvelope } from './errors.ts';
import { sendJson } from './http-reply.ts';
import type { Logger } from './logger.ts';
import { createServer as createHttpServer } from './node-http.ts';
import type { TlsCredentials, TlsSource } from './tls-credentials.ts';

/** Nobody can listen on the address that the settings name. */
class AddressError extends ConfigError {
  override readonly name = 'AddressError';
}

/** What is under way when the server stops may take this long; connections that linger after that are cut. */
const DRAIN_MS = 3000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than a proxy keeps a connection that it does not use: whoever closes first must not be the one who is written to. */
const KEEP_ALIVE_MS = 65_000;

/** Answers on a bare connection, where there is no response to write to, and closes it. */
function answerOnSocket(socket: Duplex, status: string, message: string, logger: Logger): void {
  const requestId = randomUUID();
  logger.info({ request_id: requestId, status: Number.parseInt(status, 10) }, message);
  const body = JSON.stringify(failureEnvelope(new ApiError('invalid_request', message), requestId));
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nX-Request-Id: ${requestId}\r\n` +
      `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex, logger: Logger): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  answerOnSocket(socket, status, 'this is not a readable HTTP request', logger);
}

/** Answers a request that the application is not asked about. */
function refuse(response: ServerResponse, status: number, message: string, logger: Logger): void {
  const requestId = randomUUID();
  logger.info({ request_id: requestId, status }, message);
  const body = failureEnvelope(new ApiError('invalid_request', message), requestId);
  sendJson(response, status, body, requestId, ['Connection', 'close']);
}

/** An Express application; `next` is what it calls when nothing in it takes the request. */
type Application = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

export interface HttpServer {
  /**
   * @param flag the setting that the port comes from
   * @returns the port, which was free if `port` is 0
   * @throws AddressError if the address is taken or is none of this machine's
   */
  listen(host: string, port: number, flag: string): Promise<number>;
  /** Stops accepting, and waits for the requests that are under way. */
  close(): Promise<void>;
}

/** @param tls null: without TLS */
export function createServer(tls: TlsSource | null, app: Application, logger: Logger): HttpServer {
  const underWay = new Set<ServerResponse>();
  const sockets = new Set<Socket>();

  const onRequest: RequestListener = (request, response) => {
    underWay.add(response);
    response.on('close', () => underWay.delete(response));
    if (!server.listening) response.shouldKeepAlive = false;
    // Express comes back only with a target that it finds no path in.
    app(request, response, () => refuse(response, 404, 'the request has no readable target', logger));
  };

  // Without it, Node answers a missing Host by itself, with an empty body; the application refuses it in the envelope.
  const options = {
    requireHostHeader: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server = tls ? createTlsServer(tls, options, onRequest) : createHttpServer(options, onRequest);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('clientError', (error, socket) => answerBrokenRequest(error, socket, logger));
  server.on('checkExpectation', (_request, response) => {
    refuse(response, 417, 'only Expect: 100-continue can be met', logger);
  });
  server.on('connect', (_request, socket) =>
    answerOnSocket(socket, '400 Bad Request', 'this is no proxy', logger),
  );

  return {
    listen: (host, port, flag) => listen(server, host, port, flag),
    async close() {
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      // A connection is asked to end with its reply; one that has sent no request, or only part of one, ends now.
      const busy = new Set([...underWay].map((response) => response.socket));
      for (const response of underWay) if (!response.headersSent) response.shouldKeepAlive = false;
      for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
      const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}

function createTlsServer(tls: TlsSource, options: object, app: RequestListener): Server {
  const secure = ({ certificate, key }: TlsCredentials) =>
    ({ cert: certificate, key, minVersion: 'TLSv1.2' }) as const;
  const server = createHttpsServer({ ...options, ...secure(tls.current()) }, app);
  tls.onChange((credentials) => server.setSecureContext(secure(credentials)));
  return server;
}

async function listen(server: Server, host: string, port: number, flag: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program listens there' : error.message;
      reject(new AddressError(`${flag} is "${port}", but ${host}:${port} cannot be listened on: ${why}`));
    });
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}
