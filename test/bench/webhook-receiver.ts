// The receiver of the webhook measurements, a process of its own: TLS, kept connections, any path, always 200.
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
  /** Connections since the start. */
  connections: number;
  /** Of each event: from the time that its body states to its first request, in milliseconds. */
  firstAttemptMs: number[];
}

/** `expect`: tell once so many different deliveries are in since now. */
export type Command = { expect: number };
export type Message = { port: number } | { arrivals: Arrivals };

const [cert = '', key = ''] = process.argv.slice(2);
let target = Infinity;
let seen = new Set<string>();
let events = new Map<string, number>();
let arrivals: Arrivals;
let connections = 0;

function reset(): void {
  seen = new Set();
  events = new Map();
  arrivals = { firstAt: 0, lastAt: 0, requests: 0, deliveries: 0, connections: 0, firstAttemptMs: [] };
}

const tell = (message: Message) => process.send?.(message);
const now = () => performance.timeOrigin + performance.now();

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
    note(String(delivery), String(event), Buffer.concat(chunks).toString());
  });
});
server.keepAliveTimeout = 60_000;
server.on('secureConnection', () => {
  connections += 1;
});
process.on('message', (command: Command) => {
  reset();
  target = command.expect;
});
process.once('disconnect', () => process.exit());
reset();
server.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }));
