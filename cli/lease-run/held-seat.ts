// A seat that is held while a command runs: taken, kept by heartbeats, released. Times are monotonic, so that a changed
// clock does not matter.
import type { LeaseObject } from '#server/features/leases/lease-contract.ts';
import { MAX_WAIT_SECONDS } from '#server/features/leases/lease-state-contract.ts';
import {
  type CheckoutReply,
  isTemporary,
  type LeaseCalls,
  type QueuedCheckout,
  RefusedError,
  UnreachableError,
} from './lease-calls.ts';

/** Monotonic milliseconds, and a pause that ends early with the signal. */
export interface Timer {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30_000;
const RELEASE_ATTEMPTS = 3;
const RELEASE_MS = 5000;

/** Doubles from a second to half a minute, give or take a fifth, so that clients do not return in step. */
export function retryDelay(failures: number, random = Math.random()): number {
  const delay = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LAST_RETRY_MS);
  return Math.round(delay * (0.8 + 0.4 * random));
}

/**
 * When to try again. A proxy may ask for an hour during maintenance, in which the lease or the place in the queue would
 * be lost. @param mostMs after which the server expects the next call anyway
 */
function retryPause(error: unknown, failures: number, mostMs: number): number {
  const asked = error instanceof RefusedError ? error.refusal.retryAfterMs : null;
  return Math.min(asked === null ? retryDelay(failures) : Math.min(asked, LAST_RETRY_MS), mostMs);
}

interface CheckoutOptions {
  /** The request without waiting. */
  input: object;
  waitMs: number;
  calls: LeaseCalls;
  timer: Timer;
  /** Ends the wait. */
  signal: AbortSignal;
  /** Tells a person what is going on. */
  say(text: string): void;
}

function isQueued(reply: CheckoutReply | QueuedCheckout): reply is QueuedCheckout {
  return 'queued' in reply;
}

/** @throws UnreachableError for a reply without a seat: something else answers at this address */
function refuseForeign(reply: CheckoutReply): CheckoutReply {
  if ('lease_token' in reply && 'lease' in reply) return reply;
  throw new UnreachableError('the reply is not from a License Desk server');
}

/**
 * Takes a seat. If none is free, waits in the server's queue; if the server cannot be reached, tries again. Both end
 * with the waiting time.
 * @returns null if the signal ended it
 * @throws RefusedError, UnreachableError
 */
export async function takeSeat({
  input,
  waitMs,
  calls,
  timer,
  signal,
  say,
}: CheckoutOptions): Promise<CheckoutReply | null> {
  const deadline = timer.now() + waitMs;
  let ticket: string | undefined;
  let position = 0;
  let pollMs = Infinity;
  let failures = 0;
  while (!signal.aborted) {
    const left = Math.max(0, deadline - timer.now());
    const waitSeconds = Math.min(Math.ceil(left / 1000), MAX_WAIT_SECONDS);
    let pause: number;
    try {
      // Never cut off: a reply that is not read may be a seat that no one releases.
      // At the end, without the ticket: the server gives a seat now, or ends the place.
      const place = left > 0 ? ticket : undefined;
      const reply = await calls.checkout({ ...input, wait_seconds: waitSeconds, ticket: place });
      failures = 0;
      if (!isQueued(reply)) return refuseForeign(reply);
      if (reply.position !== position) say(`waiting for a seat, position ${reply.position}`);
      ({ ticket, position } = reply);
      pollMs = reply.poll_after_seconds * 1000;
      pause = pollMs;
    } catch (error) {
      const isFull = error instanceof RefusedError && error.refusal.error_code === 'no_seat_available';
      if (left === 0 || !(isFull || isTemporary(error))) throw error;
      // The place in the queue has lapsed.
      if (isFull) ticket = undefined;
      failures += 1;
      pause = retryPause(error, failures, ticket === undefined ? Infinity : pollMs);
      if (failures === 1) say(`${error.message}; trying again for ${Math.ceil(left / 1000)} s`);
    }
    await timer.sleep(Math.min(pause, Math.max(deadline - timer.now(), 1)), signal);
  }
  // Otherwise the next free seat would be held for a client that is gone. The place lapses if this fails.
  if (ticket !== undefined) await releaseSeat(ticket, calls, timer);
  return null;
}

interface HoldOptions {
  lease: Pick<LeaseObject, 'expires_in' | 'heartbeat_seconds'>;
  token: string;
  calls: LeaseCalls;
  timer: Timer;
  /** Ends the heartbeats. */
  signal: AbortSignal;
  say(text: string): void;
}

/** Why the lease is gone for good; null for a failure that may pass. */
function lossOf(error: unknown): string | null {
  if (!(error instanceof RefusedError)) return null;
  const { error_code: code, reason } = error.refusal;
  if (code === 'lease_gone') return reason ?? 'the lease has ended';
  return code === 'token_invalid' ? 'the server does not know the lease' : null;
}

/**
 * Sends heartbeats until the signal ends them. A server that cannot be reached is tried again and again: it extends
 * leases by its own downtime, and revives an expired one whose seat is free.
 * @returns why the lease is lost; null if the signal ended it
 */
export async function keepSeat({
  lease,
  token,
  calls,
  timer,
  signal,
  say,
}: HoldOptions): Promise<string | null> {
  let heartbeatMs = lease.heartbeat_seconds * 1000;
  let expiresAt = timer.now() + lease.expires_in * 1000;
  let failures = 0;
  let hasExpired = false;
  let pause = heartbeatMs;
  for (;;) {
    await timer.sleep(pause, signal);
    if (signal.aborted) return null;
    const sentAt = timer.now();
    try {
      const { lease: extended } = await calls.heartbeat(token, signal);
      if (failures > 0) say('the server answers again');
      failures = 0;
      hasExpired = false;
      if (extended) {
        heartbeatMs = extended.heartbeat_seconds * 1000;
        expiresAt = sentAt + extended.expires_in * 1000;
      }
      pause = heartbeatMs;
    } catch (error) {
      if (signal.aborted) return null;
      const loss = lossOf(error);
      if (loss !== null) return loss;
      failures += 1;
      if (failures === 1)
        say(`the server does not extend the lease (${(error as Error).message}); the command keeps running`);
      if (!hasExpired && timer.now() >= expiresAt) {
        hasExpired = true;
        say('the lease has run out; the server may give its seat to another client');
      }
      pause = retryPause(error, failures, heartbeatMs);
    }
  }
}

/**
 * @param token of a lease, or the ticket of a place in the queue
 * @returns whether the server has confirmed it; if not, the seat becomes free when the lease ends
 */
export async function releaseSeat(token: string, calls: LeaseCalls, timer: Timer): Promise<boolean> {
  const deadline = AbortSignal.timeout(RELEASE_MS);
  for (let attempt = 1; attempt <= RELEASE_ATTEMPTS && !deadline.aborted; attempt += 1) {
    try {
      await calls.release(token, deadline);
      return true;
    } catch (error) {
      // A lease that is gone needs no release.
      if (error instanceof RefusedError && !isTemporary(error)) return true;
      if (attempt < RELEASE_ATTEMPTS) await timer.sleep(retryDelay(attempt), deadline);
    }
  }
  return false;
}
