// A listener of the product in front of a small application, for tests of sockets and limits.
import type { IncomingMessage, ServerResponse } from 'node:http';
import pino from 'pino';
import { onTestFinished } from 'vitest';
import { createServer, type HttpServerOptions } from '#server/platform/http-server.ts';

export interface Listener {
  url: string;
  close(): Promise<void>;
}

/** Closed when the test is over. */
export async function startListener(
  app: (request: IncomingMessage, response: ServerResponse) => void,
  options: Partial<Omit<HttpServerOptions, 'app'>> = {},
): Promise<Listener> {
  const server = createServer({
    tls: null,
    logger: pino({ level: 'silent' }),
    limits: { total: 10_000, perAddress: 10_000, isProxy: () => false },
    shedding: null,
    ...options,
    app,
  });
  const port = await server.listen('127.0.0.1', 0, '--port');
  onTestFinished(() => server.close());
  return { url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`, close: server.close };
}
