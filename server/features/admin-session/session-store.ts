// Where sessions and sign-in codes are kept: in this process and a file, or in a database that several servers share.
import type { AdminSession } from './admin-session-presenter.ts';

/** Codes and sessions are named by the hash of their secret, so that comparisons reveal nothing about it. */
export interface SessionStore {
  /** Resolves once the code can be used; if it cannot be stored, it does not sign in. */
  addCode(codeHash: string, expiresAt: number): Promise<void>;
  /**
   * Uses the code up and adds the session, or does neither.
   * @returns IDs of the sessions that had to make room; null if the code is unknown, used or expired
   */
  signIn(codeHash: string, secretHash: string, session: AdminSession): Promise<string[] | null>;
  /** Also returns sessions that have expired. */
  find(secretHash: string): Promise<AdminSession | null>;
  /** The oldest first; also sessions that have expired. */
  list(): Promise<AdminSession[]>;
  /** Notes that the session is used. Returns without waiting for a disk. */
  touch(secretHash: string, session: AdminSession): void;
  remove(ids: readonly string[]): Promise<void>;
}

/** The oldest codes and sessions are dropped beyond this number of each. */
export const MAX_SESSIONS = 200;
/** How much older the last use may be after a crash. */
export const LAST_USED_MS = 60_000;
