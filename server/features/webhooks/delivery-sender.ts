// Sends one attempt: an HTTPS POST with bounded cost, regardless of what the receiver does.
import { lookup as systemLookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import got, { type Got, type Request } from 'got';
import packageInfo from '../../../package.json' with { type: 'json' };
import { createAgentPool } from './agent-pool.ts';
import { describeFailure, describeReply, type FailureClass } from './delivery-failure.ts';
import { parseRetryAfter } from './delivery-schedule.ts';
import type { GuardedAgent } from './guarded-agent.ts';
import { plainText } from './plain-text.ts';
import { hostOf, type Lookup, parseWebhookUrl } from './webhook-url.ts';

const REPLY_BYTES = 4096;
/** The headers decide the outcome. The rest of the reply is cut off after this time. */
const REPLY_MS = 5000;
/** Time limit for each step of connecting: name lookup, TCP, TLS. */
const CONNECT_MS = 5000;

export interface Delivery {
  url: string;
  /** Except content type and user agent. */
  headers: Record<string, string>;
  /** JSON. */
  body: string;
  /** PEM certificates that are additionally trusted for this receiver. */
  ca: string | null;
}

/** The outcome of one attempt. */
export interface Attempt {
  /** The receiver replied with 2xx in time. */
  delivered: boolean;
  /** HTTP status; null if there was no reply. */
  status: number | null;
  errorClass: FailureClass | null;
  /** For display: one line, at most 200 characters. */
  error: string | null;
  /** Duration in whole milliseconds. */
  ms: number;
  /** The address that was connected to or refused. */
  remoteAddress: string | null;
  /** The first 4 KiB of the body, on one line, without control characters. */
  reply: string;
  /** Requested by the receiver, in milliseconds from now. */
  retryAfterMs: number | null;
}

export interface DeliverySender {
  /** Never throws. */
  send(delivery: Delivery): Promise<Attempt>;
  /** Ends all connections. Attempts in progress end as `stopped`, and so do later ones. */
  close(): void;
}

interface Options {
  /** Networks that may be reached in addition to public ones. */
  allow: readonly string[];
  /** PEM certificates that are trusted in addition to the system's. */
  extraCa: readonly string[];
  /** From the start of an attempt until its headers have arrived. */
  timeoutMs: number;
  lookup?: Lookup;
}

type Outcome =
  | { response: IncomingMessage; reply: string; remoteAddress: string | null }
  | { error: unknown; wasStale: boolean; remoteAddress: string | null };

/** Reads the stored part of a reply and cuts off the rest, so that an endless or slow reply costs nothing. */
function readReply(stream: Request): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (isComplete: boolean) => {
      clearTimeout(timer);
      if (!isComplete) stream.destroy();
      const bytes = Buffer.concat(chunks).subarray(0, REPLY_BYTES);
      // Drops a character that was cut in half.
      resolve(plainText(new TextDecoder().decode(bytes, { stream: !isComplete }), REPLY_BYTES));
    };
    const timer = setTimeout(finish, REPLY_MS, false);
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > REPLY_BYTES) finish(false);
    });
    stream.once('end', () => finish(true));
    stream.once('error', () => finish(false));
    stream.once('close', () => finish(false));
  });
}

function isCompressed({ headers }: IncomingMessage): boolean {
  return !['', 'identity'].includes(headers['content-encoding']?.toLowerCase() ?? '');
}

/** What all requests have in common: checking these options once saves a fifth of got's time. */
function createClient(timeoutMs: number, signal: AbortSignal): Got {
  const step = Math.min(CONNECT_MS, timeoutMs);
  return got.extend({
    headers: {
      'content-type': 'application/json',
      'user-agent': `License-Desk/${packageInfo.version}`,
    },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    retry: { limit: 0 },
    timeout: { lookup: step, connect: step, secureConnect: step },
    signal,
  });
}

/** Makes one request. The status decides; errors after the headers do not change the outcome. */
function exchange(client: Got, url: URL, delivery: Delivery, agent: GuardedAgent, timeoutMs: number) {
  return new Promise<Outcome>((resolve) => {
    let remoteAddress: string | null = null;
    let wasStale = false;
    /** Of the connection, before this request. */
    let bytesBefore = 0;
    const { headers, body } = delivery;
    const timeout = { request: timeoutMs };
    const stream = client.stream.post(url, { agent: { https: agent }, headers, body, timeout });
    stream.on('request', (request) => {
      request.once('socket', (socket: Socket) => {
        bytesBefore = socket.bytesRead;
        const note = () => {
          remoteAddress = socket.remoteAddress ?? null;
        };
        if (socket.connecting) socket.once('connect', note);
        else note();
      });
      request.once('error', (error: NodeJS.ErrnoException & { address?: string }) => {
        remoteAddress ??= error.address ?? null;
        const isUnanswered = request.socket?.bytesRead === bytesBefore;
        const isClosed = ['ECONNRESET', 'EPIPE'].includes(error.code ?? '');
        wasStale = request.reusedSocket && isUnanswered && isClosed;
      });
    });
    let isRead = false;
    stream.once('response', (response: IncomingMessage) => {
      isRead = true;
      void readReply(stream).then((reply) => resolve({ response, reply, remoteAddress }));
    });
    stream.on('error', (error) => {
      // Once the headers are in, the reply counts, however it ends.
      if (!isRead) resolve({ error, wasStale, remoteAddress });
    });
  });
}

export function createDeliverySender({
  allow,
  extraCa,
  timeoutMs,
  lookup = systemLookup,
}: Options): DeliverySender {
  const pool = createAgentPool({ allow, extraCa, lookup });
  const closing = new AbortController();
  const client = createClient(timeoutMs, closing.signal);

  /**
   * A receiver may close a kept connection just as it is reused, which says nothing about the delivery. It is sent once
   * more, over a new connection. Not over the other kept ones: a receiver that fails at the delivery would get it over each.
   */
  async function post(url: URL, delivery: Delivery): Promise<Outcome> {
    const deadline = performance.now() + timeoutMs;
    return pool.use(url.origin, delivery.ca, async (agent) => {
      const outcome = await exchange(client, url, delivery, agent, timeoutMs);
      if ('response' in outcome || !outcome.wasStale) return outcome;
      const left = Math.max(1, Math.ceil(deadline - performance.now()));
      return exchange(client, url, delivery, agent.withoutKeepAlive(), left);
    });
  }

  function toAttempt(outcome: Outcome, host: string): Omit<Attempt, 'ms'> {
    const now = Date.now();
    if ('error' in outcome) {
      const failure = describeFailure(outcome.error, { host, now, timeoutMs });
      return {
        delivered: false,
        status: null,
        errorClass: failure.errorClass,
        error: failure.message,
        remoteAddress: outcome.remoteAddress,
        reply: '',
        retryAfterMs: null,
      };
    }
    const { response, reply, remoteAddress } = outcome;
    const status = response.statusCode ?? 0;
    const failure = describeReply(status, response.headers.location);
    return {
      delivered: failure === null,
      status,
      errorClass: failure?.errorClass ?? null,
      error: failure?.message ?? null,
      remoteAddress,
      reply: isCompressed(response) ? '(compressed, not shown)' : reply,
      retryAfterMs: parseRetryAfter(response.headers['retry-after'], now),
    };
  }

  return {
    async send(delivery) {
      const startedAt = performance.now();
      let host = '';
      let outcome: Outcome;
      try {
        closing.signal.throwIfAborted();
        const url = parseWebhookUrl(delivery.url);
        host = hostOf(url);
        outcome = await post(url, delivery);
      } catch (error) {
        outcome = { error, wasStale: false, remoteAddress: null };
      }
      return { ...toAttempt(outcome, host), ms: Math.round(performance.now() - startedAt) };
    },
    close() {
      closing.abort();
      pool.close();
    },
  };
}
