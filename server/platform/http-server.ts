// HTTP and HTTPS servers that answer in the envelope even what never becomes a request of the application.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { ConfigError, type TlsSetting } from './config.ts';
import { ApiError, failureEnvelope } from './errors.ts';
import type { Logger } from './logger.ts';

/** What is under way when the server stops may take this long; connections that linger after that are cut. */
const DRAIN_MS = 3000;
const REQUEST_TIMEOUT_MS = 60_000;

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

/** @throws ConfigError if the certificate or its key cannot be used */
export function createServer(tls: TlsSetting, app: RequestListener, logger: Logger): Server {
  // Without it, Node answers a missing Host by itself, with an empty body; the application refuses it in the envelope.
  const options = { requireHostHeader: false, requestTimeout: REQUEST_TIMEOUT_MS };
  const server = tls.mode === 'off' ? createHttpServer(options, app) : createTlsServer(tls, options, app);
  server.on('clientError', (error, socket) => answerBrokenRequest(error, socket, logger));
  server.on('checkExpectation', (request) => {
    answerOnSocket(request.socket, '417 Expectation Failed', 'only Expect: 100-continue can be met', logger);
  });
  server.on('connect', (_request, socket) => {
    answerOnSocket(socket, '400 Bad Request', 'this is no proxy', logger);
  });
  return server;
}

function createTlsServer(tls: TlsSetting & { mode: 'files' }, options: object, app: RequestListener): Server {
  try {
    const files = { cert: readFileSync(tls.certificate), key: readFileSync(tls.key) };
    return createHttpsServer({ ...options, ...files, minVersion: 'TLSv1.2' }, app);
  } catch (error) {
    const given = `${tls.certificate},${tls.key}`;
    throw new ConfigError(
      `--tls is "${given}", but must be two readable PEM files: ${(error as Error).message}`,
    );
  }
}

/**
 * @param flag the setting that the port comes from
 * @returns the port, which was free if `port` is 0
 * @throws ConfigError if the address is taken or is none of this machine's
 */
export async function listen(server: Server, host: string, port: number, flag: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program listens there' : error.message;
      reject(new ConfigError(`${flag} is "${port}", but ${host}:${port} cannot be listened on: ${why}`));
    });
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Stops accepting, and waits for what is under way. */
export async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(cut);
}
