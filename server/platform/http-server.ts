// HTTP and HTTPS servers that protect clients from each other, and reply to every failure in the JSON envelope.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { addressError, type PortFlag } from './address-error.ts';
import { type Admitted, type ConnectionLimits, createConnectionLimits } from './connection-limits.ts';
import { ApiError, failureEnvelope } from '#server/wire/errors.ts';
import { type Answer, type Connection, createConnection, TICK_MS } from './http-connection.ts';
import { sendJson } from './http-reply.ts';
import type { Logger } from './logger.ts';
import { createServer as createHttpServer } from './node-http.ts';
import { chooseRequestId, logWhenClosed } from './request-id.ts';
import { createRequestScheduler, type Shedding } from './request-scheduler.ts';
import { CONNECTION_REFUSED } from './socket-reply.ts';
import type { TlsCredentials, TlsSource } from './tls-credentials.ts';

/** At a stop, requests in progress get this long; then their connections are closed. */
const DRAIN_MS = 3000;
/** At a stop, clients get this long to read finished replies. */
const LAST_REPLY_MS = 1000;
/** From a request's first byte to the end of its headers; on a new connection, from its start. */
const HEADERS_TICKS = 15;
const HANDSHAKE_TICKS = 10;
/** How often slow headers are looked for: each look wakes an idle process. */
const LOOK_TICKS = 5;
/** Longer than proxies keep idle connections, so that none sends a request while the server is closing it. */
const KEEP_ALIVE_MS = 65_000;
/** Connections that wait in the system while the server is busy, if the system allows as many. Further ones are reset. */
const CONNECTION_QUEUE = 4096;
/** In seconds. */
const RETRY_AFTER = '2';

function timeouts(tickMs: number) {
  return {
    headersTimeout: HEADERS_TICKS * tickMs,
    handshakeTimeout: HANDSHAKE_TICKS * tickMs,
    // Bodies have progress-dependent deadlines instead: see http-connection.ts.
    requestTimeout: 0,
    connectionsCheckingInterval: LOOK_TICKS * tickMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node would reply to a missing Host header with an empty body; the application uses the envelope.
    requireHostHeader: false,
  };
}

/** An Express application. It calls `next` if nothing handles the request. */
export type Application = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

export interface HttpServerOptions {
  /** null: without TLS */
  tls: TlsSource | null;
  app: Application;
  logger: Logger;
  limits: ConnectionLimits;
  /** Null: requests are never shed. */
  shedding: (Shedding & { isExempt(target: string): boolean }) | null;
  /** Changes every client deadline; for tests. */
  tickMs?: number;
}

export interface HttpServer {
  /**
   * @param flag the setting that contains the port
   * @returns the port; a free one if `port` is 0
   * @throws AddressError if the address is in use or does not belong to this machine
   */
  listen(host: string, port: number, flag: PortFlag): Promise<number>;
  /** Stops accepting connections, and waits for requests in progress. @param withinMs `DRAIN_MS` by default */
  close(withinMs?: number): Promise<void>;
  requestsUnderWay(): number;
}

interface Accepted {
  socket: Socket;
  admitted: Admitted;
  /** Undefined during the TLS handshake. */
  connection?: Connection;
}

export function createServer(options: HttpServerOptions): HttpServer {
  const { tls, app, logger, limits, shedding, tickMs = TICK_MS } = options;
  const admission = createConnectionLimits(limits);
  const scheduler = createRequestScheduler(shedding);
  const accepted = new Set<Accepted>();
  const handshakes = new Map<string, Accepted>();
  const connections = new Map<Socket, Connection>();
  const refused = { requests: 0, connections: 0 };
  /** Undefined while there are no connections, so that an idle server does not wake up. */
  let timer: NodeJS.Timeout | undefined;

  function refuse(response: ServerResponse, status: number, message: string): void {
    const requestId = chooseRequestId(response.req.headers['x-request-id']);
    logger.info({ request_id: requestId, status }, message);
    const body = failureEnvelope(new ApiError('invalid_request', message), requestId);
    sendJson(response, status, body, requestId, ['Connection', 'close']);
  }

  function shed(request: IncomingMessage, response: ServerResponse): boolean {
    if (!shedding || shedding.isExempt(request.url ?? '')) return false;
    refused.requests += 1;
    const requestId = chooseRequestId(request.headers['x-request-id']);
    logWhenClosed(logger, request, response, requestId, () => undefined);
    const failure = new ApiError('overloaded', 'the server is overloaded; retry later');
    const body = failureEnvelope(failure, requestId);
    sendJson(response, failure.status, body, requestId, ['Retry-After', RETRY_AFTER]);
    return true;
  }

  const answer: Answer = (request, response) => {
    // Express calls this only if it cannot find a path in the request target.
    app(request, response, () => refuse(response, 404, 'the request has no readable target'));
  };
  const onRequest: RequestListener = (request, response) =>
    connections.get(request.socket)?.accept({ request, response, answer });
  const server = tls
    ? createTlsServer(tls, timeouts(tickMs), onRequest)
    : createHttpServer(timeouts(tickMs), onRequest);

  function open(one: Accepted, socket: Socket): void {
    const connection = createConnection({
      socket,
      peer: one.admitted.peer,
      scheduler,
      shed,
      logger,
    });
    one.connection = connection;
    connections.set(socket, connection);
    startTicking();
    socket.once('close', () => connections.delete(socket));
    // Node removes its own listener after the first error and on CONNECT.
    socket.on('error', () => {});
    takeOver(socket, connection);
  }

  server.on('connection', (socket) => {
    const admitted = admission.admit(socket, () => one?.connection);
    const one: Accepted | undefined = admitted && { socket, admitted };
    if (!one) {
      refused.connections += 1;
      startTicking();
      // A TLS client could not read a reply before its handshake.
      if (!tls) socket.write(CONNECTION_REFUSED);
      socket.on('error', () => {}).destroySoon();
      return;
    }
    accepted.add(one);
    socket.once('close', () => accepted.delete(one));
    if (!tls) {
      open(one, socket);
      return;
    }
    const key = peerOf(socket);
    handshakes.set(key, one);
    socket.once('close', () => handshakes.get(key) === one && handshakes.delete(key));
  });
  server.on('secureConnection', (socket: Socket) => {
    const key = peerOf(socket);
    const one = handshakes.get(key);
    handshakes.delete(key);
    if (one) open(one, socket);
    else socket.destroy();
  });

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const connection = connections.get(socket);
    const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    // Browsers open connections in advance. An unused one must be closed without a reply.
    const isUnused = isTimeout && socket.bytesRead === 0;
    if (!connection || !socket.writable || isUnused || error.code === 'ECONNRESET') socket.destroy();
    else connection.fail(isTimeout ? HEADERS_LATE : unreadable(error));
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const refuseExpectation: Answer = (_request, late) =>
      refuse(late, 417, 'only Expect: 100-continue is supported');
    connections.get(request.socket)?.accept({ request, response, answer: refuseExpectation });
  });
  server.on('connect', (_request, socket: Socket) => connections.get(socket)?.fail(NO_PROXY));
  server.on('timeout', (socket) => {
    const isWorking = connections.get(socket)?.isBusy() && socket.writableLength === 0;
    if (!isWorking) socket.destroy();
  });

  function startTicking(): void {
    timer ??= setInterval(tick, tickMs).unref();
  }

  function tick(): void {
    for (const connection of connections.values()) connection.tick();
    admission.limitUnread();
    if (refused.requests + refused.connections > 0)
      logger.warn({ ...refused }, 'overloaded: requests or connections were refused');
    refused.requests = 0;
    refused.connections = 0;
    if (connections.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    listen: (host, port, flag) => listen(server, host, port, flag),
    requestsUnderWay: () => [...connections.values()].filter((connection) => connection.isBusy()).length,
    async close(withinMs = DRAIN_MS) {
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const { connection, socket } of accepted) {
        if (connection) connection.drain();
        else socket.destroy();
      }
      const cutUnread = setTimeout(() => {
        for (const { connection, socket } of accepted) if (connection?.hasReplied()) socket.destroy();
      }, LAST_REPLY_MS);
      const cutAll = setTimeout(() => {
        for (const { socket } of accepted) socket.destroy();
      }, withinMs);
      await closed;
      clearTimeout(cutUnread);
      clearTimeout(cutAll);
      clearInterval(timer);
    },
  };
}

const HEADERS_LATE = new ApiError('invalid_request', 'the request headers took too long', { status: 408 });
const NO_PROXY = new ApiError('invalid_request', 'this server is not a proxy');

function unreadable({ code }: NodeJS.ErrnoException): ApiError {
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  return new ApiError('invalid_request', 'the request is not valid HTTP', { status });
}

/** Replaces Node's HTTP server as the reader of the socket, right after Node has attached to it. */
function takeOver(socket: Socket, connection: Connection): void {
  const parse = socket.listeners('data').at(-1) as ((bytes: Buffer) => void) | undefined;
  const parseEnd = socket.listeners('end').at(-1) as (() => void) | undefined;
  if (!parse || !parseEnd)
    throw new Error('this version of Node is not supported: its HTTP server reads sockets differently');
  socket.on('data', (bytes: Buffer) => connection.read(bytes, parse)).off('data', parse);
  socket.on('end', () => connection.readEnd(parseEnd)).off('end', parseEnd);
}

/** The peer of a connection; the same for a TLS connection and its underlying TCP connection. */
function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}

function createTlsServer(tls: TlsSource, options: object, app: RequestListener): Server {
  const secure = ({ certificate, key }: TlsCredentials) =>
    ({ cert: certificate, key, minVersion: 'TLSv1.2' }) as const;
  const server = createHttpsServer({ ...options, ...secure(tls.current()) }, app);
  tls.onChange((credentials) => server.setSecureContext(secure(credentials)));
  return server;
}

async function listen(server: Server, host: string, port: number, flag: PortFlag): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(addressError(error, { host, port, flag })));
    server.listen({ port, host, backlog: CONNECTION_QUEUE }, resolve);
  });
  return (server.address() as AddressInfo).port;
}
