import type { ReplyOf } from '#server/wire/endpoint.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { adminSessionContract } from './admin-session-contract.ts';

/** Somebody who is signed in. Moments are epoch milliseconds. */
export interface AdminSession {
  /** Says nothing of the cookie. */
  id: string;
  signedInAt: number;
  lastUsedAt: number;
  expiresAt: number;
  /** As the browser calls itself. */
  userAgent: string | null;
}

type SessionObject = ReplyOf<typeof adminSessionContract.listSessions>['items'][number];

/** For the audit log: what does not change while the session lasts. */
export function toSessionRecord({ id, signedInAt, expiresAt, userAgent }: AdminSession) {
  return {
    id,
    signed_in_at: toTimestamp(signedInAt),
    expires_at: toTimestamp(expiresAt),
    user_agent: userAgent,
  };
}

/** @param currentId the session that asks, if it is one */
export function toSessionObject(session: AdminSession, currentId: string | undefined): SessionObject {
  return {
    ...toSessionRecord(session),
    last_used_at: toTimestamp(session.lastUsedAt),
    current: session.id === currentId,
  };
}
