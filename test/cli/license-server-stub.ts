// A license server that answers as a test tells it, for what the real one does only after a long time or a failure.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { within } from '../helpers/within.ts';

export interface Answer {
  status?: number;
  body?: object;
  headers?: Record<string, string>;
}

/** Undefined cuts the connection. */
type Script = (input: Record<string, unknown>, count: number) => Answer | undefined | Promise<Answer>;

export interface LicenseServerStub {
  url: string;
  /** What arrived at a path, such as `checkout`. */
  calls(path: string): Record<string, unknown>[];
  /** Resolves as soon as a path was called so many times. */
  called(path: string, times: number): Promise<void>;
  close(): Promise<void>;
}

const LEASE = { lease_id: 1, expires_in: 60, heartbeat_seconds: 20 };
export const GRANTED: Answer = { body: { lease: LEASE, lease_token: 'lds_stub', lease_file: '', pool: {} } };
const RELEASED: Answer = { body: { released: true } };

export function failure(status: number, error_code: string, more: object = {}): Answer {
  return { status, body: { ok: false, error_code, message: `stub: ${error_code}`, ...more } };
}

/** Heartbeats as often as a test needs them. */
export function grantedFor(heartbeatSeconds: number, expiresIn = 60): Answer {
  const lease = { ...LEASE, heartbeat_seconds: heartbeatSeconds, expires_in: expiresIn };
  return { body: { lease, lease_token: 'lds_stub', lease_file: '', pool: {} } };
}

const DEFAULTS: Record<string, Script> = {
  checkout: () => GRANTED,
  heartbeat: () => ({ body: { lease: LEASE } }),
  release: () => RELEASED,
};

/** @param scripts by the last part of the path; `count` starts at 1 */
export async function startLicenseServerStub(
  scripts: Record<string, Script> = {},
): Promise<LicenseServerStub> {
  const all: Record<string, Script> = { ...DEFAULTS, ...scripts };
  const arrived: { path: string; input: Record<string, unknown> }[] = [];
  let look = () => {};
  const calls = (path: string) => arrived.filter((one) => one.path === path).map(({ input }) => input);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = /([^/]+)\/?$/u.exec(request.url ?? '')?.[1] ?? '';
    const body = await text(request);
    arrived.push({ path, input: body === '' ? {} : (JSON.parse(body) as Record<string, unknown>) });
    look();
    const said = await all[path]?.(arrived.at(-1)?.input ?? {}, calls(path).length);
    if (said === undefined) {
      request.socket.destroy();
      return;
    }
    const { status = 200, body: fields = {}, headers = {} } = said;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ ok: true, ...fields }));
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((ready) => void server.listen(0, '127.0.0.1', ready));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async called(path, times) {
      const enough = new Promise<void>((done) => {
        look = () => {
          if (calls(path).length >= times) done();
        };
        look();
      });
      await within(`call ${times} of ${path}`, enough);
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
