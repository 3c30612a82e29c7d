// Calls to the cluster as clients are told to make them: a call without an answer is repeated with the same Idempotency-Key.
import { setTimeout as sleep } from 'node:timers/promises';
import { toFailure } from '#server/wire/client.ts';
import type { FailureEnvelope } from '#server/wire/errors.ts';
import type { Reply } from '../../helpers/test-server.ts';

/** Longer than nginx waits for a server, so that no answer is missed. */
const ANSWER_MS = 40_000;
/** Far longer than any outage of a run. A call that is not answered by then is a failure. */
const GIVE_UP_MS = 180_000;
const PAUSE_MS = 100;
/** nginx, or a server that says so, could not make the call. */
const TRY_AGAIN = new Set([502, 503, 504]);

export interface Repeated extends Reply {
  /** How often the call was made. Earlier ones may have succeeded without an answer. */
  attempts: number;
  /** When the answered call began, in `performance.now()` time. */
  beganAt: number;
}

export interface CallCounts {
  answered: number;
  repeated: number;
}

export async function sendOnce(
  url: string,
  body: object | null,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(url, {
    method: body === null ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const text = await response.text();
  // nginx answers in HTML.
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? (JSON.parse(text) as unknown) : text,
  };
}

export interface Calls {
  counts: CallCounts;
  post(path: string, body: object, headers?: Record<string, string>): Promise<Repeated>;
}

/** @param root the base URL, without a trailing slash @param failures gets the calls that are never answered */
export function createCalls(root: string, failures: string[]): Calls {
  const counts: CallCounts = { answered: 0, repeated: 0 };
  return {
    counts,
    async post(path, body, headers) {
      const deadline = performance.now() + GIVE_UP_MS;
      let last = '';
      for (let attempts = 1; performance.now() < deadline; attempts += 1) {
        const beganAt = performance.now();
        const reply = await sendOnce(root + path, body, headers).catch((error: unknown) => String(error));
        if (typeof reply !== 'string' && !TRY_AGAIN.has(reply.status)) {
          counts.answered += 1;
          return { ...reply, attempts, beganAt };
        }
        last = typeof reply === 'string' ? reply : `status ${reply.status}`;
        counts.repeated += 1;
        const waitSeconds = typeof reply === 'string' ? 0 : Number(reply.headers.get('retry-after'));
        await sleep(PAUSE_MS + waitSeconds * 1000);
      }
      failures.push(`${path} was not answered within ${GIVE_UP_MS / 1000} s: ${last}`);
      throw new Error(failures.at(-1));
    },
  };
}

/** The reply of a call that has to succeed. @throws ApiError */
export async function succeed(call: Promise<Repeated>): Promise<Repeated> {
  const reply = await call;
  if (reply.status === 200) return reply;
  const isText = typeof reply.body === 'string';
  const failure = isText ? { error_code: 'internal_error', message: reply.body as string } : reply.body;
  throw toFailure(failure as FailureEnvelope, reply.status);
}
