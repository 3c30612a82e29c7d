// Who is calling, and the call itself, as handlers and services see them.
import { randomUUID } from 'node:crypto';
import { ApiError } from '#server/wire/errors.ts';

/** Who a change is ascribed to in the audit log. */
export interface Actor {
  kind: 'public' | 'api_token' | 'cli' | 'session' | 'system';
  /** The API token's name, the OS user behind CLI (as it claims) or page, or the job. */
  name: string;
  /** The API token's or session's id. */
  id?: string;
  role?: 'admin' | 'integrator';
}

/** A client that waits for an answer. */
export interface Caller {
  /** Whether the connection has closed, so that nobody would receive the answer. */
  isGone(): boolean;
}

export interface Call extends Caller {
  actor: Actor;
  requestId: string;
  /** As the caller's program calls itself, where it says so. */
  userAgent?: string | undefined;
  /** Adds a header to the reply, such as a cookie. */
  setReplyHeader(name: string, value: string): void;
  /** Which of these media types the caller likes best; the first, if all are the same to it or none would do. */
  prefers(types: readonly [string, ...string[]]): string;
}

/**
 * Whether the name is only what the caller says: a command names its user itself, and whoever may read the runtime
 * file can send any name.
 */
export function isClaimed(kind: string): boolean {
  return kind === 'cli';
}

/** Nginx's status for this; nobody receives it. */
const CLIENT_CLOSED_REQUEST = 499;

/** Ends work that has waited for its turn until its caller had gone. */
export function callerGone(): ApiError {
  return new ApiError('invalid_request', 'the caller closed the connection', {
    status: CLIENT_CLOSED_REQUEST,
  });
}

export const PUBLIC_ACTOR: Actor = { kind: 'public', name: 'public' };

/** A call without a network between. */
export function directCall(actor: Actor): Call {
  return {
    actor,
    requestId: randomUUID(),
    isGone: () => false,
    setReplyHeader: () => {},
    prefers: ([first]) => first,
  };
}

/** A command of the OS user of this name. */
export function cliCall(userName: string): Call {
  return directCall({ kind: 'cli', name: userName, role: 'admin' });
}
