// Who may use the back office: the CLI by a secret in the runtime file, people by a one-time code and then a cookie.
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

const CODE_MS = 10 * 60_000;
/** A working day. There is no shorter limit for idle ones: whoever sits at this desk can make a new code anyway. */
const SESSION_MS = 12 * 3_600_000;
/** Old codes and sessions are dropped when new ones are made, so there are never more than this of each. */
const MAX_KEPT = 200;
const MAX_USER_AGENT = 300;

interface Needs {
  clock: Clock;
  /** The CLI's credential, as written to the runtime file. */
  runtimeSecret: string;
  audit: Audit;
  transaction: RunTransaction;
  /** By its public id; called at once, however it came to its end. */
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

/** What a session is called where others may read it. */
function newSessionId(): string {
  return randomBytes(8).toString('hex');
}

/** Makes room for one more. @param drop is told of what gave way */
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
  /** Both by the hash of the secret, so that comparing tells nothing of it. */
  const codes = new Map<string, { expiresAt: number }>();
  const sessions = new Map<string, AdminSession>();
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

  /**
   * Sessions are in memory, not in the database: while that cannot be written nobody may be kept from looking at what
   * is wrong, nor from putting somebody out.
   */
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
    for (const id of ids) onEnded(id);
  }

  return {
    /** A code that signs one browser in, within ten minutes. */
    createCode(): string {
      const code = newSecret();
      const now = clock.now();
      makeRoom(codes, now);
      codes.set(hashSecret(code), { expiresAt: now + CODE_MS });
      return code;
    },

    /** @throws ApiError `unauthorized` for a code that is unknown, used or too old */
    async signIn(code: string, call: Call): Promise<NewSession> {
      const now = clock.now();
      const hash = hashSecret(code);
      const given = codes.get(hash);
      if (!given || !isOpen(given)) {
        codes.delete(hash);
        throw new ApiError(
          'unauthorized',
          'this sign-in link was used already or is too old; make a new one',
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
      // Used up with the session in place and not before, so that a failure leaves the code usable. No await in between:
      // the same code sent twice at once signs in once.
      sessions.set(hashSecret(secret), session);
      codes.delete(hash);
      await note({ ...call, actor: actorOf(session) }, 'session.signed_in', [session]);
      return { secret, expiresAt: session.expiresAt };
    },

    async signOut(call: Call): Promise<void> {
      const mine = listOpen().filter(({ id }) => id === call.actor.id);
      end(mine);
      await note(call, 'session.signed_out', mine);
    },

    /** Those that are open, the last to sign in first. */
    list: (call: Call) => ({
      items: listOpen()
        .toReversed()
        .map((session) => toSessionObject(session, call.actor.id)),
    }),

    /** @throws ApiError `not_found` */
    async end(sessionId: string, call: Call): Promise<void> {
      const named = listOpen().filter(({ id }) => id === sessionId);
      if (named.length === 0) throw new ApiError('not_found', 'there is no such session; it may have ended');
      end(named);
      await note(call, 'session.ended', named);
    },

    /** All but the caller's own. */
    async endOthers(call: Call): Promise<{ ended: number }> {
      const others = listOpen().filter(({ id }) => id !== call.actor.id);
      end(others);
      await note(call, 'session.ended', others);
      return { ended: others.length };
    },

    /** @param sessionId the public one */
    isLive: (sessionId: string): boolean => listOpen().some(({ id }) => id === sessionId),

    /** @returns the actor behind a session cookie, or null */
    bySession(secret: string | undefined): Actor | null {
      const session = secret === undefined ? undefined : sessions.get(hashSecret(secret));
      if (!session || !isOpen(session)) return null;
      session.lastUsedAt = clock.now();
      return actorOf(session);
    },

    /**
     * @param secret the bearer credential
     * @param claimedName the OS user who runs the CLI, as it says
     */
    byRuntimeSecret(secret: string, claimedName: string): Actor | null {
      if (!timingSafeEqual(Buffer.from(hashSecret(secret)), runtimeHash)) return null;
      return { kind: 'cli', name: claimedName, role: 'admin' };
    },
  };
}

export type AdminSessionService = ReturnType<typeof createAdminSessionService>;
