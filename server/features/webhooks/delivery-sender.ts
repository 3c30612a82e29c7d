// Sends one attempt: an HTTPS POST with bounded cost, regardless of what the receiver does.
import { lookup as systemLookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import packageInfo from '../../../package.json' with { type: 'json' };
import { createAgentPool } from './agent-pool.ts';
import { AttemptTimeoutError, startTimeout } from './attempt-timeout.ts';
import { describeFailure, describeReply, type FailureClass } from './delivery-failure.ts';
import { parseRetryAfter } from './delivery-schedule.ts';
import { type GuardedAgent, MAX_FREE_SOCKETS } from './guarded-agent.ts';
import { plainText } from './plain-text.ts';
import { hostOf, type Lookup, parseWebhookUrl } from './webhook-url.ts';

const USER_AGENT = `License-Desk/${packageInfo.version}`;
const REPLY_BYTES = 4096;
/** The headers decide the outcome. The rest of the reply is cut off after this time. */
const REPLY_MS = 5000;

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
function readReply(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isFinished = false;
    const finish = (isComplete: boolean) => {
      if (isFinished) return;
      isFinished = true;
      clearTimeout(timer);
      if (!isComplete) response.destroy();
      const bytes = Buffer.concat(chunks).subarray(0, REPLY_BYTES);
      // Drops a character that was cut in half.
      resolve(plainText(new TextDecoder().decode(bytes, { stream: !isComplete }), REPLY_BYTES));
    };
    const timer = setTimeout(finish, REPLY_MS, false);
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > REPLY_BYTES) finish(false);
    });
    response.once('end', () => finish(true));
    response.on('error', () => finish(false));
    response.once('close', () => finish(false));
  });
}

function isCompressed({ headers }: IncomingMessage): boolean {
  return !['', 'identity'].includes(headers['content-encoding']?.toLowerCase() ?? '');
}

const closedError = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** Makes one request. The status decides; errors after the headers do not change the outcome. */
function exchange(url: URL, delivery: Delivery, agent: GuardedAgent, timeoutMs: number) {
  return new Promise<Outcome>((resolve) => {
    let remoteAddress: string | null = null;
    const request = httpsRequest(url, {
      method: 'POST',
      agent,
      headers: {
        ...delivery.headers,
        'content-type': 'application/json',
        'user-agent': USER_AGENT,
      },
    });
    const cancelTimeout = startTimeout(timeoutMs, () =>
      request.destroy(new AttemptTimeoutError('reply', timeoutMs)),
    );
    request.once('socket', (socket) => {
      const note = () => {
        remoteAddress = socket.remoteAddress ?? null;
      };
      if (socket.connecting) socket.once('connect', note);
      else note();
    });
    let isAnswered = false;
    request.once('response', (response) => {
      isAnswered = true;
      void readReply(response).then((reply) => resolve({ response, reply, remoteAddress }));
    });
    request.on('error', (error: NodeJS.ErrnoException & { address?: string }) => {
      // Once the headers are in, the reply counts, however it ends.
      if (isAnswered) return;
      const wasStale = request.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '');
      resolve({ error, wasStale, remoteAddress: remoteAddress ?? error.address ?? null });
    });
    request.once('close', () => {
      cancelTimeout();
      // As after an upgrade that nobody asked for, which ends the connection without an error.
      if (!isAnswered) resolve({ error: closedError(), wasStale: false, remoteAddress });
    });
    request.end(delivery.body);
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

  /**
   * A receiver may close a kept connection just as it is reused, which says nothing about the delivery. In that case
   * the next
   * connection is tried immediately, until it is a new one.
   */
  async function post(url: URL, delivery: Delivery): Promise<Outcome> {
    const deadline = performance.now() + timeoutMs;
    return pool.use(url.origin, delivery.ca, async (agent) => {
      for (let stale = 0; ; stale++) {
        const left = Math.max(1, Math.ceil(deadline - performance.now()));
        const outcome = await exchange(url, delivery, agent, left);
        const mayRetry = 'error' in outcome && outcome.wasStale && !closing.signal.aborted;
        if (!mayRetry || stale >= MAX_FREE_SOCKETS) return outcome;
      }
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
      // Closing the connections has ended it.
      if ('error' in outcome && closing.signal.aborted) outcome.error = closing.signal.reason;
      return { ...toAttempt(outcome, host), ms: Math.round(performance.now() - startedAt) };
    },
    close() {
      closing.abort();
      pool.close();
    },
  };
}
