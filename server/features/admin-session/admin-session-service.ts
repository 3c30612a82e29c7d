// Access to the back office: the CLI uses a secret from the runtime file; people use a one-time code and then a cookie.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Audit, RecordedEntry } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Actor, Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { ApiError } from '#server/wire/errors.ts';
import { osUserName } from '#server/platform/os-user.ts';
import { readableText } from '#server/wire/readable-text.ts';
import { hashSecret } from '#server/platform/secret-token.ts';
import { type AdminSession, toSessionObject, toSessionRecord } from './admin-session-presenter.ts';
import type { SessionFile } from './session-file.ts';

const CODE_MS = 10 * 60_000;
/** A working day. No shorter idle limit: anyone with access to this desktop can create a new code anyway. */
const SESSION_MS = 12 * 3_600_000;
/** Oldest codes and sessions are dropped beyond this number of each. */
const MAX_KEPT = 200;
const MAX_USER_AGENT = 300;
/** How much older the last use may be after a crash. */
const LAST_USED_MS = 60_000;

interface Needs {
  clock: Clock;
  /** The CLI's credential, as written to the runtime file. */
  runtimeSecret: string;
  audit: Audit;
  transaction: RunTransaction;
  file: SessionFile;
  /** Called as soon as a session ends for any reason, with its public ID. */
  onEnded(sessionId: string): void;
  onAuditFailed(error: unknown, entry: RecordedEntry): void;
}

export interface NewSession {
  /** The cookie's value. */
  secret: string;
  expiresAt: number;
}

function newSecret(): string {
  return randomBytes(24).toString('base64url');
}

/** The session ID that others may see. */
function newSessionId(): string {
  return randomBytes(8).toString('hex');
}

/** Makes room for one more. @param drop receives each entry that is removed */
function makeRoom<Kept extends { expiresAt: number }>(
  kept: Map<string, Kept>,
  now: number,
  drop: (gone: Kept) => void = () => {},
): void {
  const [oldest] = kept.keys();
  for (const [hash, one] of kept) {
    const isOver = one.expiresAt <= now;
    if (!isOver && !(kept.size >= MAX_KEPT && hash === oldest)) continue;
    kept.delete(hash);
    drop(one);
  }
}

export function createAdminSessionService(needs: Needs) {
  const { clock, audit, transaction, onEnded } = needs;
  /** Both are keyed by the hash of the secret, so that comparisons reveal nothing about it. */
  const codes = new Map<string, { expiresAt: number }>();
  const sessions = new Map<string, AdminSession>(needs.file.read());
  let savedAt = clock.now();
  const runtimeHash = Buffer.from(hashSecret(needs.runtimeSecret));
  const userName = osUserName();

  const isOpen = ({ expiresAt }: { expiresAt: number }): boolean => expiresAt > clock.now();
  const actorOf = ({ id }: AdminSession): Actor => ({
    kind: 'session',
    name: userName,
    id,
    role: 'admin',
  });

  function listOpen(): AdminSession[] {
    return [...sessions.values()].filter((session) => isOpen(session));
  }

  function changeOf(action: string, session: AdminSession) {
    const record = toSessionRecord(session);
    const [before, after] = action === 'session.signed_in' ? [null, record] : [record, null];
    return { subject: `session:${session.id}`, before, after };
  }

  function save(): void {
    savedAt = clock.now();
    needs.file.write(sessions);
  }

  /** Administrators must be able to sign in and to sign others out while the database cannot be written. */
  async function note(call: Call, action: string, some: readonly AdminSession[]): Promise<void> {
    try {
      await transaction(async () => {
        for (const session of some) {
          const { subject, before, after } = changeOf(action, session);
          await audit.record(call, action, subject, before, after);
        }
      });
    } catch (error) {
      for (const session of some) needs.onAuditFailed(error, { call, action, ...changeOf(action, session) });
    }
  }

  function end(some: readonly AdminSession[]): void {
    const ids = new Set(some.map(({ id }) => id));
    for (const [hash, { id }] of sessions) if (ids.has(id)) sessions.delete(hash);
    save();
    for (const id of ids) onEnded(id);
  }

  return {
    /** Creates a code that signs in one browser within ten minutes. */
    createCode(): string {
      const code = newSecret();
      const now = clock.now();
      makeRoom(codes, now);
      codes.set(hashSecret(code), { expiresAt: now + CODE_MS });
      return code;
    },

    /** @throws ApiError `unauthorized` for a code that is unknown, used or expired */
    async signIn(code: string, call: Call): Promise<NewSession> {
      const now = clock.now();
      const hash = hashSecret(code);
      const given = codes.get(hash);
      if (!given || !isOpen(given)) {
        codes.delete(hash);
        throw new ApiError(
          'unauthorized',
          'this sign-in link was already used or has expired; create a new one',
        );
      }
      const secret = newSecret();
      const session: AdminSession = {
        id: newSessionId(),
        signedInAt: now,
        lastUsedAt: now,
        expiresAt: now + SESSION_MS,
        userAgent:
          call.userAgent === undefined ? null : readableText(call.userAgent).slice(0, MAX_USER_AGENT),
      };
      makeRoom(sessions, now, ({ id }) => onEnded(id));
      // The code is used up only once the session exists, so that a failure leaves it usable. There is no await in
      // between, so the same code sent twice at the same time signs in once.
      sessions.set(hashSecret(secret), session);
      codes.delete(hash);
      save();
      await note({ ...call, actor: actorOf(session) }, 'session.signed_in', [session]);
      return { secret, expiresAt: session.expiresAt };
    },

    async signOut(call: Call): Promise<void> {
      const mine = listOpen().filter(({ id }) => id === call.actor.id);
      end(mine);
      await note(call, 'session.signed_out', mine);
    },

    /** Open sessions, latest sign-in first. */
    list: (call: Call) => ({
      items: listOpen()
        .toReversed()
        .map((session) => toSessionObject(session, call.actor.id)),
    }),

    /** @throws ApiError `not_found` */
    async end(sessionId: string, call: Call): Promise<void> {
      const named = listOpen().filter(({ id }) => id === sessionId);
      if (named.length === 0) throw new ApiError('not_found', 'session not found; it may have ended');
      end(named);
      await note(call, 'session.ended', named);
    },

    /** Ends all sessions except the caller's. */
    async endOthers(call: Call): Promise<{ ended: number }> {
      const others = listOpen().filter(({ id }) => id !== call.actor.id);
      end(others);
      await note(call, 'session.ended', others);
      return { ended: others.length };
    },

    /** @param sessionId the public ID */
    isLive: (sessionId: string): boolean => listOpen().some(({ id }) => id === sessionId),

    /** @returns the actor of a session cookie, or null */
    bySession(secret: string | undefined): Actor | null {
      const session = secret === undefined ? undefined : sessions.get(hashSecret(secret));
      if (!session || !isOpen(session)) return null;
      session.lastUsedAt = clock.now();
      if (Math.abs(session.lastUsedAt - savedAt) >= LAST_USED_MS) save();
      return actorOf(session);
    },

    /**
     * @param secret the bearer credential
     * @param claimedName OS user name that the CLI reports
     */
    byRuntimeSecret(secret: string, claimedName: string): Actor | null {
      if (!timingSafeEqual(Buffer.from(hashSecret(secret)), runtimeHash)) return null;
      return { kind: 'cli', name: claimedName, role: 'admin' };
    },
  };
}

export type AdminSessionService = ReturnType<typeof createAdminSessionService>;
