import type { ReplyOf } from '#server/wire/endpoint.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { adminSessionContract } from './admin-session-contract.ts';

/** A signed-in administrator's session. Times are epoch milliseconds. */
export interface AdminSession {
  /** Public; cannot be used to derive the cookie. */
  id: string;
  signedInAt: number;
  lastUsedAt: number;
  expiresAt: number;
  /** The browser's User-Agent header. */
  userAgent: string | null;
}

type SessionObject = ReplyOf<typeof adminSessionContract.listSessions>['items'][number];

/** For the audit log: the fields that stay the same for the whole session. */
export function toSessionRecord({ id, signedInAt, expiresAt, userAgent }: AdminSession) {
  return {
    id,
    signed_in_at: toTimestamp(signedInAt),
    expires_at: toTimestamp(expiresAt),
    user_agent: userAgent,
  };
}

/** @param currentId the caller's own session, if it has one */
export function toSessionObject(session: AdminSession, currentId: string | undefined): SessionObject {
  return {
    ...toSessionRecord(session),
    last_used_at: toTimestamp(session.lastUsedAt),
    current: session.id === currentId,
  };
}
