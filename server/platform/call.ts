// A call and its caller, as handlers and services see them.
import { randomUUID } from 'node:crypto';
import { ApiError } from '#server/wire/errors.ts';

/** Who the audit log attributes a change to. */
export interface Actor {
  kind: 'public' | 'api_token' | 'cli' | 'session' | 'system';
  /** Name of the API token, of the OS user behind CLI (as claimed) or page, or of the job. */
  name: string;
  /** ID of the API token or session. */
  id?: string;
  role?: 'admin' | 'integrator';
}

/** A client that waits for an answer. */
export interface Caller {
  /** Whether the connection has closed, so that no client would receive the answer. */
  isGone(): boolean;
}

export interface Call extends Caller {
  actor: Actor;
  requestId: string;
  /** The client's User-Agent header, if it has one. */
  userAgent?: string | undefined;
  /** The Host header of the request. */
  host?: string | undefined;
  /** Whether this is a HEAD request, which must not change anything. */
  isHead?: boolean;
  /** The client's network address, if it is known. */
  address?: string | undefined;
  /** Adds a header to the reply, such as a cookie. */
  setReplyHeader(name: string, value: string): void;
  /** The caller's preferred media type among these; the first if it has no preference or accepts none. */
  prefers(types: readonly [string, ...string[]]): string;
}

/**
 * Whether the name is only claimed by the caller: a command states its user itself, and any process that can read the
 * runtime file can send any name.
 */
export function isClaimed(kind: string): boolean {
  return kind === 'cli';
}

/** Nginx's status for this; only for the log, as the client is gone. */
export const CLIENT_CLOSED_REQUEST = 499;

/** Ends work whose caller disconnected while it was queued. */
export function callerGone(): ApiError {
  return new ApiError('invalid_request', 'the caller closed the connection', {
    status: CLIENT_CLOSED_REQUEST,
  });
}

export const PUBLIC_ACTOR: Actor = { kind: 'public', name: 'public' };

/** A call from within the server. */
export function directCall(actor: Actor): Call {
  return {
    actor,
    requestId: randomUUID(),
    isGone: () => false,
    setReplyHeader: () => {},
    prefers: ([first]) => first,
  };
}

/** A command of the OS user with this name. */
export function cliCall(userName: string): Call {
  return directCall({ kind: 'cli', name: userName, role: 'admin' });
}
