// The receiver of the webhook measurements, in a separate process: TLS, kept connections, any path, always 200. It
// verifies both signatures, as partners do: some 15 microseconds for each delivery.
import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** What came in since the last `reset`. */
export interface Arrivals {
  /** Epoch milliseconds, with fractions. */
  firstAt: number;
  lastAt: number;
  requests: number;
  /** Requests whose delivery was not there before. */
  deliveries: number;
  /** Requests with a signature that is not right. */
  unverified: number;
  /** Connections since the start. */
  connections: number;
  /** Of each event: from the time that its body states to its first request, in milliseconds. */
  firstAttemptMs: number[];
}

/** `expect`: tell when counting has begun, and once so many deliveries are in since then. `path`: whose secret it is. */
export type Command = { expect: number } | { path: string; secret: string };
export type Message = { port: number } | { expecting: true } | { arrivals: Arrivals };

const [cert = '', key = ''] = process.argv.slice(2);
let target = Infinity;
let seen = new Set<string>();
let events = new Map<string, number>();
let arrivals: Arrivals;
let connections = 0;
const secrets = new Map<string, string>();

function reset(): void {
  seen = new Set();
  events = new Map();
  arrivals = {
    firstAt: 0,
    lastAt: 0,
    requests: 0,
    deliveries: 0,
    unverified: 0,
    connections: 0,
    firstAttemptMs: [],
  };
}

const tell = (message: Message) => process.send?.(message);
const now = () => performance.timeOrigin + performance.now();

function isVerified({ url = '', headers }: IncomingMessage, body: Buffer): boolean {
  const secret = secrets.get(url) ?? '';
  const ours = createHmac('sha256', secret).update(body).digest('hex');
  const standard = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`)
    .update(body)
    .digest('base64');
  return (
    headers['x-license-webhook-signature'] === `sha256=${ours}` &&
    headers['webhook-signature'] === `v1,${standard}`
  );
}

function note(delivery: string, event: string, body: string): void {
  const at = now();
  arrivals.requests += 1;
  seen.add(delivery);
  if (!events.has(event)) {
    const { timestamp } = JSON.parse(body) as { timestamp: string };
    events.set(event, at - Date.parse(timestamp));
  }
  arrivals.firstAt ||= at;
  arrivals.lastAt = at;
  if (seen.size < target) return;
  target = Infinity;
  tell({
    arrivals: { ...arrivals, connections, deliveries: seen.size, firstAttemptMs: [...events.values()] },
  });
}

const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => {
    response.writeHead(200, { 'content-length': '0' }).end();
    const { 'x-license-delivery': delivery, 'webhook-id': event } = request.headers;
    const body = Buffer.concat(chunks);
    if (!isVerified(request, body)) arrivals.unverified += 1;
    note(String(delivery), String(event), body.toString());
  });
});
server.keepAliveTimeout = 60_000;
server.on('secureConnection', () => {
  connections += 1;
});
process.on('message', (command: Command) => {
  if ('secret' in command) {
    secrets.set(command.path, command.secret);
    return;
  }
  reset();
  target = command.expect;
  tell({ expecting: true });
});
process.once('disconnect', () => process.exit());
reset();
server.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }));
